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
