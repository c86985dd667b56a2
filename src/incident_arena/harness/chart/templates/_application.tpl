{{/* For the charts of applications: what their pods, services and secrets have in common. Root is theirs; its values have
images, accounts and fsGroup. */}}
{{- define "application.labels" -}}
app.kubernetes.io/name: {{ index . 0 }}
incident-arena.io/class: {{ index . 1 }}
{{- end -}}

{{- define "application.image" -}}
image: {{ get (index . 0).Values.images (index . 1) | required (printf "the value images.%s is not set" (index . 1)) }}
imagePullPolicy: Never
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "application.account" -}}
{{- get (index . 0).Values.accounts (index . 1) | required (printf "the value accounts.%s is not set" (index . 1)) -}}
{{- end -}}

{{/* What every pod has. Arguments: [root, user's number]. */}}
{{- define "application.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ index . 1 }}
  runAsGroup: {{ index . 1 }}
  fsGroup: {{ (index . 0).Values.fsGroup }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* A Service. Arguments: [name, port, …]. */}}
{{- define "application.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ index . 0 }}
  labels: {{- include "application.labels" (list (index . 0) "application") | nindent 4 }}
spec:
  selector: {app.kubernetes.io/name: {{ index . 0 }}}
  ports:
  {{- range rest . }}
    - {name: port-{{ . }}, port: {{ . }}, targetPort: {{ . }}, protocol: TCP}
  {{- end }}
{{- end -}}

{{/* A Secret. Arguments: [name, class, map]. */}}
{{- define "application.secret" -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ index . 0 }}
  labels: {incident-arena.io/class: {{ index . 1 }}}
stringData:
{{- range $name, $value := index . 2 }}
  {{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* Probes that ask once a second until the first yes, and seldom afterwards: each costs the machine something. */}}
{{- define "application.probes" -}}
startupProbe:
  {{- toYaml . | nindent 2 }}
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 180
readinessProbe:
  {{- toYaml . | nindent 2 }}
  periodSeconds: 5
  timeoutSeconds: 4
  failureThreshold: 2
{{- end -}}

{{/* Claims for an application's volumes. Argument: name → size. */}}
{{- define "application.volumes" -}}
{{- range $name, $size := . }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ $name }}
  labels: {incident-arena.io/class: application}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: {{ $size }}}}
{{- end }}
{{- end -}}
