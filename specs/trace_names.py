"""Names of device work as PyTorch traces have them, by class: what `specs.traces` writes.

Sources: kernel names of cuBLAS, CUTLASS, cuDNN, FlashAttention, ATen, TorchInductor, NCCL and, on AMD, Tensile and
composable kernel, as these libraries spell them; some of the longest template lists are shortened.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

Device = Literal["cuda", "rocm", "cpu"]
Work = Literal["matmul", "attention", "memory_bound", "copy", "communication"]

_ADD = "at::native::CUDAFunctor_add<c10::BFloat16>"
_ELEMENTWISE = (
    f"void at::native::vectorized_elementwise_kernel<4, {_ADD}, std::array<char*, 3ul> >(int, {_ADD}, "
    "std::array<char*, 3ul>)"
)
_CUDA: Mapping[Work, Sequence[str]] = {
    "matmul": (
        "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off"
        "_kernel__5x_cublas",
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x4_tn_align8>"
        "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x4_tn_align8::Params)",
        "sm80_xmma_fprop_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x64x32_stage4"
        "_warpsize2x2x1_g1_tensor16x8x16_alignc8_execute_kernel__5x_cudnn",
    ),
    "attention": (
        "void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
        "cutlass::bfloat16_t, flash::Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, "
        "false, false, true, true, false, false>(flash::Flash_fwd_params)",
        "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<flash::Flash_bwd_kernel_traits<128, 64, 128, 8, "
        "2, 4, 2, false, false, cutlass::bfloat16_t> >(flash::Flash_bwd_params)",
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t, "
        "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x128_4x1x1_cga1x1x1_kernel0_0",
    ),
    "memory_bound": (
        _ELEMENTWISE,
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
        "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
        "(at::native::ADAM_MODE)1, false> >(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)",
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, "
        "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*, float "
        "const*, int, int, int, bool const*, int, bool)",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
        "at::native::sum_functor<float, float, float> >, unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)",
        "triton_poi_fused_add_mul_silu_3",
        "triton_red_fused_native_layer_norm_1",
    ),
    "copy": (
        "Memcpy HtoD (Pinned -> Device)",
        "Memcpy DtoH (Device -> Pageable)",
        "Memcpy DtoD (Device -> Device)",
        "Memset (Device)",
    ),
    "communication": (
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
    ),
}
_ROCM: Mapping[Work, Sequence[str]] = {
    "matmul": (
        "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_CMS_SN_LDSB0_AFC1_AFEM1_AFEM1",
        "Cijk_Alik_Bljk_HHS_BH_MT128x128x16_MI16x16x16x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1",
    ),
    "attention": (
        "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<"
        "ck_tile::BlockFmhaPipelineProblem<unsigned short> > >, ck_tile::FmhaFwdKernel<>::FmhaFwdBatchModeKargs>",
    ),
    "memory_bound": (_ELEMENTWISE, "triton_poi_fused_add_mul_silu_3"),
    "copy": (
        "Memcpy HtoD (Host -> Device)",
        "Memcpy DtoD (Device -> Device)",
        "Memset (Device)",
    ),
    "communication": (
        "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)",
    ),
}
_CPU: Mapping[Work, Sequence[str]] = {
    "matmul": ("aten::addmm", "aten::mm", "aten::bmm"),
    "attention": ("aten::_scaled_dot_product_flash_attention_for_cpu",),
    "memory_bound": (
        "aten::mul_",
        "aten::addcdiv_",
        "aten::native_layer_norm",
        "aten::_softmax",
        "aten::sqrt",
    ),
}
NAMES: Mapping[Device, Mapping[Work, Sequence[str]]] = {"cuda": _CUDA, "rocm": _ROCM, "cpu": _CPU}
"""By device and class. A trace without a device has operators of ATen, and neither copies nor communication."""

OPERATORS: Mapping[Work, tuple[str, str]] = {
    "matmul": ("aten::linear", "aten::addmm"),
    "attention": ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"),
    "memory_bound": ("aten::add", "aten::add_"),
    "copy": ("aten::to", "aten::copy_"),
    "communication": ("c10d::allreduce_", "nccl:all_reduce"),
}
"""The operator of the CPU that a student called, and the one inside it that launches the work."""
