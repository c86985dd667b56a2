{{/* What the agent's pod may open connections to, as JSON: beside its way out, which every surface has. */}}
{{- define "surface.network" -}}
{{- $openings := list
  (dict "from" "agent" "to" "admin" "ports" (list 8080))
  (dict "from" "agent" "to" "prometheus" "ports" (list 9090))
-}}
{{- with .Values.application.lookingDoor -}}
{{- $openings = append $openings (dict "from" "agent" "to" .component "ports" (list .port)) -}}
{{- end -}}
{{- range .Values.application.stores -}}
{{- if not .host -}}{{- $openings = append $openings (dict "from" "agent" "to" .name "ports" (list .port)) -}}{{- end -}}
{{- end -}}
{{- toJson (dict "openings" $openings) -}}
{{- end -}}
