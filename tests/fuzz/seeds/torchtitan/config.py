from torchtitan.trainer import Trainer

def llama3_70b() -> Trainer.Config:
    """Doc with (brackets and = signs."""
    return Trainer.Config(
        model_spec=model_registry("70B"),
        optimizer=OptimizersContainer.Config(lr=1.5e-4),
        training=TrainingConfig(
            num_tokens_per_microbatch_per_dp_rank=2 * 8192,  # two
            num_tokens_per_train_step=256 * 8192,
            max_context_length=8192,
            steps=1000,
        ),
        model_converters=ModelConvertersContainer.Config(
            converters=[Float8LinearConverter.Config(enable_fsdp_float8_all_gather=True, filter_fqns=["output"])],
        ),
        parallelism=ParallelismConfig(
            tensor_parallel_degree=8,
            pipeline_parallel_degree=2,
            pipeline_parallel_schedule="Interleaved1F1B",
            num_pp_microbatches=4,
            data_parallel_shard_degree=4,
            enable_async_tensor_parallel=True,
        ),
        activation_checkpoint=SelectiveAC.Config(),
        compile=CompileConfig(enable=True),
    )

def other() -> Trainer.Config:
    return Trainer.Config(training=TrainingConfig(max_context_length=1))
