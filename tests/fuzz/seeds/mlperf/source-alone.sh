source 
source $(dirname ${BASH_SOURCE[0]})/config_common.sh
export MINIBS=72
export TENSOR_MODEL_PARALLEL=8
export PIPELINE_MODEL_PARALLEL=8
export INTERLEAVED_PIPELINE=8
export CONTEXT_PARALLEL=2
export TP_COMM_OVERLAP=True
export DGXNNODES=256
export WALLTIME=$((5 + ${NEXP:-1} * (150 + 5)))
export MODEL_SIZE="405b"
export ASYM_PP_EMBED=True
export ACG=full && export ACM=block && export ACL=2
