{{/*
The pod of a server. `server`: gateway or an agent, of which there are several; empty for the pod
that runs the whole system.
*/}}
{{- define "manyhands.pod" -}}
{{- $ := .root -}}
{{- $server := .server -}}
{{- $name := include "manyhands.name" $ -}}
{{- $isAgent := and $server (ne $server "gateway") -}}
{{- $port := ternary (get (include "manyhands.agentPorts" $ | fromYaml) $server) 4100 (not (not $isAgent)) -}}
{{- $portName := ternary $server "http" (not (not $isAgent)) -}}
# Nothing here speaks to Kubernetes.
automountServiceAccountToken: false
enableServiceLinks: false
{{- if not $.Values.sandbox.hostUsers }}
hostUsers: false
{{- end }}
{{- with $.Values.sandbox.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with $.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
# Servers drain for 20 seconds; what is running then goes on after the start.
terminationGracePeriodSeconds: 45
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {{- toYaml $.Values.sandbox.seccompProfile | nindent 4 }}
containers:
  - name: manyhands
    {{- if $server }}
    args: [serve, {{ $server }}]
    {{- end }}
    image: "{{ $.Values.image.repository }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}"
    imagePullPolicy: {{ $.Values.image.pullPolicy }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
      {{- if ne $.Values.sandbox.procMount "Default" }}
      {{- if $.Values.sandbox.hostUsers }}
      {{- fail "sandbox.procMount: Unmasked needs sandbox.hostUsers: false" }}
      {{- end }}
      procMount: {{ $.Values.sandbox.procMount }}
      {{- end }}
    envFrom:
      - secretRef:
          name: {{ required "secret.name: name a Secret with MANYHANDS_TOKEN" $.Values.secret.name }}
    env:
      - name: PUBLIC_URL
        {{- if $isAgent }}
        value: http://{{ $name }}-{{ $server }}.{{ $.Release.Namespace }}:{{ $port }}
        {{- else }}
        value: {{ $.Values.publicUrl | default (printf "http://%s.%s:%v" (include "manyhands.name" $) $.Release.Namespace $.Values.service.port) | quote }}
        {{- end }}
      {{- if $server }}
      {{- include "manyhands.clusterEnv" (dict "root" $ "server" $server "port" $port) | nindent 6 }}
      {{- end }}
      {{- range $name, $value := $.Values.env }}
      - name: {{ $name }}
        value: {{ $value | quote }}
      {{- end }}
    ports:
      - name: {{ $portName }}
        containerPort: {{ $port }}
      {{- if $server }}
      {{- if eq $.Values.cluster.engine "restate" }}
      - name: restate
        containerPort: {{ add $port 1000 }}
      {{- end }}
      {{- else if $.Values.monitoring.enabled }}
      {{- range $name, $port := include "manyhands.agentPorts" $ | fromYaml }}
      - name: {{ $name }}
        containerPort: {{ $port }}
      {{- end }}
      {{- end }}
    {{- if $server }}
    # New calls go to others before it drains.
    lifecycle:
      preStop:
        exec: { command: [sleep, "5"] }
    {{- end }}
    startupProbe:
      httpGet: { path: /healthz, port: {{ $portName }} }
      periodSeconds: 3
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /healthz, port: {{ $portName }} }
      periodSeconds: 15
      timeoutSeconds: 5
      failureThreshold: 8
    readinessProbe:
      httpGet: { path: /readyz, port: {{ $portName }} }
      periodSeconds: 5
      timeoutSeconds: 5
    resources: {{- toYaml $.Values.resources | nindent 6 }}
    volumeMounts:
      - name: state
        mountPath: /var/lib/manyhands
      - name: temporary
        mountPath: /tmp
      - name: shared-memory
        mountPath: /dev/shm
      {{- if $.Values.settings }}
      - name: settings
        mountPath: /etc/manyhands
        readOnly: true
      {{- end }}
volumes:
  {{- if $server }}
  - name: state
    {{- if $.Values.cluster.homeClaim }}
    persistentVolumeClaim:
      claimName: {{ $.Values.cluster.homeClaim }}
    {{- else }}
    emptyDir:
      sizeLimit: {{ $.Values.persistence.size }}
    {{- end }}
  {{- end }}
  - name: temporary
    emptyDir:
      sizeLimit: {{ $.Values.temporary.size }}
  - name: shared-memory
    emptyDir:
      medium: Memory
      sizeLimit: {{ $.Values.temporary.sharedMemory }}
  {{- if $.Values.settings }}
  - name: settings
    configMap:
      name: {{ include "manyhands.name" $ }}
  {{- end }}
{{- if $server }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "manyhands.selector" $ | nindent 8 }}
        app.kubernetes.io/component: {{ $server }}
{{- end }}
{{- with $.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where a server of a cluster finds the runs, the files and the other servers. */}}
{{- define "manyhands.clusterEnv" -}}
{{- $ := .root -}}
{{- $server := .server -}}
{{- $port := .port -}}
{{- $name := include "manyhands.name" $ -}}
{{- $cluster := $.Values.cluster -}}
- name: MANYHANDS_ENGINE_KIND
  value: {{ $cluster.engine }}
{{- if eq $cluster.engine "restate" }}
{{- with $cluster.restate }}
- name: MANYHANDS_ENGINE_RESTATE_INGRESS
  value: {{ required "cluster.restate.ingress: name Restate's ingress" (.ingress | join ",") | quote }}
- name: MANYHANDS_ENGINE_RESTATE_ADMIN
  value: {{ required "cluster.restate.admin: name Restate's admin API" .admin | quote }}
- name: MANYHANDS_ENGINE_RESTATE_IDENTITY_KEYS
  value: {{ required "cluster.restate.identityKeys: without one, whoever reaches a pod could pose as Restate" (.identityKeys | join ",") | quote }}
{{- end }}
- name: MANYHANDS_ENGINE_RESTATE_PUBLIC_URL
  value: http://{{ $name }}-{{ $server }}-restate.{{ $.Release.Namespace }}:{{ add $port 1000 }}
{{- end }}
{{- range $agent := $cluster.agents }}
- name: {{ $agent | upper | replace "-" "_" }}_URL
  value: http://{{ $name }}-{{ $agent }}.{{ $.Release.Namespace }}:{{ get (include "manyhands.agentPorts" $ | fromYaml) $agent }}
{{- end }}
{{- range $agent, $_ := include "manyhands.agentPorts" $ | fromYaml }}
{{- if not (has $agent $cluster.agents) }}
- name: MANYHANDS_AGENTS_{{ $agent | upper | replace "-" "_" }}_ENABLED
  value: "false"
{{- end }}
{{- end }}
{{- with $cluster.bucket }}
{{- if .name }}
- name: MANYHANDS_ARTIFACTS_BUCKET
  value: {{ .name | quote }}
- name: AWS_ENDPOINT_URL_S3
  value: {{ required "cluster.bucket.endpoint: the address of the service with the bucket" .endpoint | quote }}
- name: MANYHANDS_ARTIFACTS_PREFIX
  value: {{ .prefix | quote }}
{{- with .region }}
- name: AWS_REGION
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
