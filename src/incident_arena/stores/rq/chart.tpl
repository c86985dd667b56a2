{{/* Jobs are looked at through the admin interface; the Redis that they are in has its own client and exporter. */}}
{{- define "store.rq.agent" -}}{}{{- end -}}
