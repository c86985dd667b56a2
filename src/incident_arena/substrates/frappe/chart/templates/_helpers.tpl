{{/* The application's environment: where its servers are, and as whom it goes there. */}}
{{- define "frappe.environment" -}}
envFrom:
  - configMapRef: {name: site-connection}
  - secretRef: {name: site-connection}
  - secretRef: {name: site-keys}
env:
  - {name: REDIS_CACHE, value: "redis://$(CACHE_USER):$(CACHE_PASSWORD)@$(CACHE_HOST):6379/0"}
  - {name: REDIS_QUEUE, value: "redis://$(QUEUE_USER):$(QUEUE_PASSWORD)@$(QUEUE_HOST):6379/0"}
{{- end -}}
