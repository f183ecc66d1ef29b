from x import ConfigContainer
N: int = 4 * 8
def a_pretrain_8gpu_h100_config(hf_path: str = "Qwen/Qwen3-8B") -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained(hf_path).get()
    cfg.model.tensor_model_parallel_size = N
    cfg.model.x = [["embedding"] + ["decoder"] * 3]
