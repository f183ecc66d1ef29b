nproc_per_node=4
NPROC_PER_NODE=$nproc_per_node \
swift sft \
    --model Qwen/Qwen3-8B --tuner_type lora --lora_rank 16 \
    --torch_dtype bfloat16 --per_device_train_batch_size 2 \
    --gradient_accumulation_steps $(expr 32 / $nproc_per_node) \
    --max_length 4096 --deepspeed zero2 --use_liger_kernel true
