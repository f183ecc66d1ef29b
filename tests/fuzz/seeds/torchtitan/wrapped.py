from torchtitan.models.qwen3.config_registry import qwen3_14b

def graph_trainer_qwen3_14b() -> GraphTrainer.Config:
    config = to_graph_trainer_config(qwen3_14b(), model_registry)
    config.compile = GraphTrainerCompileConfig(enable=True)
    config.training = TrainingConfig(max_context_length=4096)
    config.parallelism.tensor_parallel_degree = 4
    return config
