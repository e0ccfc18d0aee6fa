{{/* GOMEMLIMIT in bytes: a share of the memory limit, so that the garbage
collector works harder before the kernel has to kill. Empty without a limit. */}}
{{- define "graphview.goMemoryLimit" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources -}}
{{- if kindIs "float64" $limit }}{{ $limit = int64 $limit }}{{ end -}}
{{- $limit = toString $limit -}}
{{- if and $limit .Values.memoryShare -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $number := regexFind "^[0-9.]+" $limit -}}
{{- $unit := get $units (regexFind "[A-Za-z]*$" $limit) -}}
{{- mulf (float64 $number) (float64 $unit) (divf (float64 .Values.memoryShare) 100.0) | floor | int64 -}}
{{- end -}}
{{- end }}
