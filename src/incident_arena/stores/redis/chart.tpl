{{/* What the harness chart asks of a kind of store, as JSON. Arguments: {store, password}. */}}
{{- define "store.redis.agent" -}}
{{- $command := printf "#!/bin/sh\n# redis-cli on %s as the user `operator`, for reading; its password is in REDISCLI_AUTH.\nexec redis-cli -h %s -p %v --user operator \"$@\"\n" .store.name .store.name .store.port -}}
{{- toJson (dict "secrets" (dict "REDISCLI_AUTH" .password) "commands" (dict .store.name $command)) -}}
{{- end -}}

{{- define "store.redis.exporter" -}}
{{- $keys := .store.exporter.keys | default list -}}
{{- toJson (dict
  "ready" "/health"
  "secrets" (dict "REDIS_PASSWORD" .password)
  "env" (dict "REDIS_ADDR" (printf "redis://%s:%v" .store.name .store.port) "REDIS_USER" "exporter")
  "args" (concat (list "prometheus-redis-exporter" (printf "-web.listen-address=:%v" .store.exporter.port))
    (ternary (list (printf "-check-single-keys=%s" (join "," $keys))) list (not (empty $keys))))
) -}}
{{- end -}}

{{/* A Redis of an application's: Service, configuration, StatefulSet; its data is on the claim `<name>-data`. What
/initial holds is taken onto the volume at the first start; from then on the volume holds.
Arguments: {root, name, options, appRules, resources}. The root's values have images.redis and the accounts. */}}
{{- define "store.redis.server" -}}
{{- $root := .root -}}{{- $name := .name -}}
{{- $users := dict
  "app" .appRules
  "operator" "~* &* -@all +@read +@connection +ping +info +memory|usage +slowlog|get +latency|latest +xinfo +select -client|kill -client|pause -client|unblock"
  "admin" "~* &* +@all"
  "referee" "~* &* +@all"
  "exporter" "~* &* -@all +@read +@connection +ping +info +client|list +config|get +slowlog|get +slowlog|len +latency|latest +select +memory|usage"
-}}
{{ include "application.service" (list $name 6379) }}
  publishNotReadyAddresses: true
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name }}-initial
  labels: {incident-arena.io/class: application}
stringData:
  redis.conf: |
    bind 0.0.0.0
    protected-mode no
    port 6379
    dir /data
    aclfile /data/users.acl
    save ""
    maxclients 500
    {{- range $option, $value := .options }}
    {{ $option }} {{ $value }}
    {{- end }}
  users.acl: |
    {{- /* Nobody can be it. Redis loads its append-only file as this user, and drops each transaction in it that the
           user may not do: with `-@all` every job was gone after a restart. */}}
    user default off resetpass ~* &* +@all
    {{- range $user, $rules := $users }}
    user {{ $user }} on #{{ include "application.account" (list $root $user) | sha256sum }} {{ $rules }}
    {{- end }}
---
{{ include "application.secret" (list (printf "%s-probe" $name) "application" (dict
  "REDISCLI_AUTH" (include "application.account" (list $root "exporter")))) }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $name }}
  labels: {{- include "application.labels" (list $name "application") | nindent 4 }}
spec:
  replicas: 1
  serviceName: {{ $name }}
  selector: {matchLabels: {app.kubernetes.io/name: {{ $name }}}}
  template:
    metadata:
      labels: {{- include "application.labels" (list $name "application") | nindent 8 }}
    spec:
      {{- include "application.pod" (list $root 999) | nindent 6 }}
      terminationGracePeriodSeconds: 15
      containers:
        - name: {{ $name }}
          {{- include "application.image" (list $root "redis") | nindent 10 }}
          ports: [{containerPort: 6379}]
          envFrom: [{secretRef: {name: {{ $name }}-probe}}]
          {{- include "application.probes" (dict "exec" (dict "command" (list
            "sh" "-c" "redis-cli --user exporter ping 2>/dev/null | grep -q PONG"))) | nindent 10 }}
          resources: {{- toJson .resources | nindent 12 }}
          volumeMounts:
            - {name: data, mountPath: /data}
            - {name: initial, mountPath: /initial, readOnly: true}
      volumes:
        - {name: data, persistentVolumeClaim: {claimName: {{ $name }}-data}}
        - {name: initial, secret: {secretName: {{ $name }}-initial}}
{{- end -}}
