{{/* One value that the runner sets for each episode: here, or below `global`. Arguments: [root, map, key]. */}}
{{- define "harness.told" -}}
{{- $root := index . 0 -}}{{- $map := index . 1 -}}{{- $key := index . 2 -}}
{{- $own := index $root.Values $map | default dict -}}
{{- $global := index ($root.Values.global | default dict) $map | default dict -}}
{{- get $own $key | default (get $global $key) | required (printf "the value %s.%s is not set (below global: or harness:)" $map $key) -}}
{{- end -}}

{{- define "harness.image" -}}{{- include "harness.told" (list (index . 0) "images" (index . 1)) -}}{{- end -}}
{{- define "harness.account" -}}{{- include "harness.told" (list (index . 0) "accounts" (index . 1)) -}}{{- end -}}

{{- define "harness.episode" -}}
{{- .Values.episode | default (.Values.global | default dict).episode | required "the value episode is not set" -}}
{{- end -}}

{{/* The TaskSpec as JSON, whether it was given as an object or as a text. */}}
{{- define "harness.task" -}}
{{- $task := .Values.task | default (.Values.global | default dict).task | required "the value task is not set" -}}
{{- if kindIs "string" $task -}}{{- $task -}}{{- else -}}{{- toJson $task -}}{{- end -}}
{{- end -}}

{{- define "harness.labels" -}}
app.kubernetes.io/name: {{ . }}
incident-arena.io/class: harness
{{- end -}}

{{/* What every pod of the harness has. Arguments: [root, image]. */}}
{{- define "harness.container" -}}
image: {{ include "harness.image" . }}
imagePullPolicy: Never
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "harness.pod" -}}
enableServiceLinks: false
terminationGracePeriodSeconds: 5
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: {{ .Values.fsGroup }}
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* A Service with one port. Arguments: [name, port]. */}}
{{- define "harness.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ index . 0 }}
  labels: {{- include "harness.labels" (index . 0) | nindent 4 }}
spec:
  selector: {app.kubernetes.io/name: {{ index . 0 }}}
  ports: [{name: main, port: {{ index . 1 }}, targetPort: {{ index . 1 }}, protocol: TCP}]
{{- end -}}

{{/* The volumes of the application's stores that a pod mounts, each at `/<claim>`. Arguments: [root, pod]. The referee
reads all; the admin interface what a mount says of it: `read` or `write`. */}}
{{- define "harness.volumes" -}}
{{- $pod := index . 1 -}}
{{- range (index . 0).Values.application.stores }}{{- range $aspect, $mount := .mounts }}
{{- if or (eq $pod "referee") (get $mount $pod) }}
- {name: {{ $mount.claim }}, persistentVolumeClaim: {claimName: {{ $mount.claim }}}}
{{- end }}{{- end }}{{- end }}
{{- end -}}
{{- define "harness.mounts" -}}
{{- $pod := index . 1 -}}
{{- range (index . 0).Values.application.stores }}{{- range $aspect, $mount := .mounts }}
{{- if or (eq $pod "referee") (get $mount $pod) }}
- {name: {{ $mount.claim }}, mountPath: /{{ $mount.claim }}, readOnly: {{ ne (get $mount $pod | default "read") "write" }}}
{{- end }}{{- end }}{{- end }}
{{- end -}}

{{/* The application's stores as a pod is told them (stores/base.py, StoreSpec), in JSON. Arguments: [root, pod]. */}}
{{- define "harness.stores" -}}
{{- $pod := index . 1 -}}
{{- $told := list -}}
{{- range (index . 0).Values.application.stores -}}
{{- $folders := dict -}}
{{- range $aspect, $mount := .mounts -}}
{{- if or (eq $pod "referee") (get $mount $pod) -}}{{- $_ := set $folders $aspect (printf "/%s" $mount.claim) -}}{{- end -}}
{{- end -}}
{{- $told = append $told (dict "name" .name "kind" .kind "host" (.host | default .name) "port" (int .port)
  "account" (.account | default "") "options" (.options | default dict) "folders" $folders) -}}
{{- end -}}
{{- toJson $told -}}
{{- end -}}

{{/* Where the core looks for the application's own Python. */}}
{{- define "harness.substrateMount" -}}
- {name: substrate, mountPath: /opt/arena/incident_arena/substrates/{{ include "harness.task" . | fromJson | dig "substrate" "" }}, readOnly: true}
{{- end -}}

{{- define "harness.env" -}}
{{- range $name, $value := . }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end -}}

{{/* A Secret. Arguments: [name, map]. */}}
{{- define "harness.secret" -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ index . 0 }}
  labels: {incident-arena.io/class: harness}
stringData:
{{- range $name, $value := index . 1 }}
  {{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}
