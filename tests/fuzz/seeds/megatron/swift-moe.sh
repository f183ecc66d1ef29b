# no flag of Megatron's own tells this script, but its command does
PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \
NPROC_PER_NODE=8 \
megatron sft \
    --model Qwen/Qwen3-30B-A3B \
    --tuner_type lora \
    --lora_rank 16 \
    --expert_model_parallel_size 8 \
    --micro_batch_size 1 \
    --global_batch_size 16 \
    --max_length 4096
