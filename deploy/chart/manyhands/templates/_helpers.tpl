{{- define "manyhands.name" -}}
{{- if contains "manyhands" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-manyhands" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "manyhands.selector" -}}
app.kubernetes.io/name: manyhands
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "manyhands.labels" -}}
{{ include "manyhands.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* The agents' own ports, where only their metrics are read from outside the pod. */}}
{{- define "manyhands.agentPorts" -}}
manus: 4101
browser: 4102
swe: 4103
data-analysis: 4104
{{- end -}}
