{{/* What the harness chart asks of a kind of store, as JSON. Arguments: {store, password}. */}}
{{- define "store.mariadb.agent" -}}
{{- $file := printf "[client]\nhost=%s\nport=%v\nuser=operator\npassword=%s\n" .store.name .store.port .password -}}
{{- toJson (dict "files" (dict "my.cnf" $file) "env" (dict "MYSQL_HOME" "/etc/agent")) -}}
{{- end -}}

{{- define "store.mariadb.exporter" -}}
{{- toJson (dict
  "ready" "/"
  "secrets" (dict "DATA_SOURCE_NAME" (printf "exporter:%s@(%s:%v)/" .password .store.name .store.port))
  "args" (list "prometheus-mysqld-exporter" (printf "--web.listen-address=:%v" .store.exporter.port) "--log.level=warn")
) -}}
{{- end -}}
