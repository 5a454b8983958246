"""Visible checks of kernels.py: five classes of kernels, by their names."""

import pytest


def check_classes(submission, expect, wanted, args=None):
    """Every name is asked for before the first is compared."""
    got = {name: submission.profiling.classify_kernel(name, args or {}) for name in wanted}
    for name, right in wanted.items():
        expect.equal(got[name], right, case=name if len(name) < 90 else f"{name[:87]}...")


@pytest.mark.exercise("profiling.classify_kernel", weight=2)
def test_matmuls_have_many_names(submission, expect):
    """cuBLAS, CUTLASS, cuDNN, DeepGEMM and Triton call a matmul gemm, nvjet, fprop; an addition is none."""
    check_classes(
        submission,
        expect,
        {
            "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn": "matmul",
            "ampere_sgemm_128x64_nn": "matmul",
            "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT": "matmul",
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x4_tn_align8>(...)": "matmul",
            "sm80_xmma_fprop_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_kernel__5x_cudnn": "matmul",
            "void cudnn::cnn::wgrad2d_grouped_direct_kernel<float, float, float, float>(...)": "matmul",
            "void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 128u, 128u>(...)": "matmul",
            "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>(...)": "matmul",
            "fused_moe_kernel": "matmul",
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >": "memory_bound",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_the_sum_over_the_parts_of_a_split_matmul_is_matmul(submission, expect):
    """cuBLAS splits a matmul over k and adds up the parts in a second kernel: that is matmul too."""
    check_classes(
        submission,
        expect,
        {
            "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>(...)": "matmul",
            "ampere_sgemm_128x32_sliced1x4_nt": "matmul",
            "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, ...> >(...)": "memory_bound",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel", weight=2)
def test_attention_is_no_matmul_though_it_is_built_from_cutlass(submission, expect):
    """flash, fmha and sdpa kernels are attention, with cutlass in their arguments; a plain gemm is not."""
    check_classes(
        submission,
        expect,
        {
            "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, cutlass::bfloat16_t> >": "attention",
            "void flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64, cutlass::half_t> >": "attention",
            "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<...> > >": "attention",
            "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<...>)": "attention",
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x128_4x1x1": "attention",
            "triton_tem_fused_flex_attention_0": "attention",
            "void vllm::paged_attention_v2_kernel<__nv_bfloat16, __nv_bfloat16, 128, 16>(...)": "attention",
            "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8": "matmul",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_what_stands_beside_attention_is_memory_bound(submission, expect):
    """A softmax of its own, rotary positions and the writing of the cache are memory-bound; flash is not."""
    check_classes(
        submission,
        expect,
        {
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>(...)": "memory_bound",
            "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float>(...)": "memory_bound",
            "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(...)": "memory_bound",
            "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(...)": "memory_bound",
            "flash_fwd_kernel": "attention",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel", weight=2)
def test_communication_is_more_than_nccl(submission, expect):
    """DeepEP, vLLM, MSCCL, NVSHMEM and symmetric memory communicate without nccl in the name."""
    check_classes(
        submission,
        expect,
        {
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "communication",
            "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)": "communication",
            "void dpsk::ep::internode::dispatch<true, 8, 7168>(...)": "communication",
            "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(...)": "communication",
            "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(...)": "communication",
            "mscclKernel_Sum_half_Simple(ncclDevComm*, mscclAlgo*)": "communication",
            "void barrier_on_stream_kernel_threadgroup<(threadgroup_t)1>(int, int)": "communication",
            "void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8, true>(...)": "communication",
            "multimem_one_shot_reduce_kernel<c10::BFloat16, 16>": "communication",
            "void at::native::index_put_kernel<float>(...)": "memory_bound",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_reducing_and_gathering_on_one_gpu_is_no_communication(submission, expect):
    """reduce, gather and scatter in a name are most often about one GPU's memory; a reduce-scatter is not."""
    check_classes(
        submission,
        expect,
        {
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps<float> > >": "memory_bound",
            "void at::native::vectorized_gather_kernel<16, long>(...)": "memory_bound",
            "void at::native::_scatter_gather_elementwise_kernel<128, 8>(...)": "memory_bound",
            "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL": "communication",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_a_collective_is_known_by_its_args_too(submission, expect):
    """An event with a "Collective name" in its args communicates, whatever it is called."""
    name = "void quantized_ring_kernel<float, 4>(...)"
    got = [
        submission.profiling.classify_kernel(name, {"Collective name": "allreduce", "Group size": 8}),
        submission.profiling.classify_kernel(name, {"grid": [8, 1, 1], "block": [128, 1, 1]}),
    ]
    for answer, right, case in zip(
        got, ("communication", "memory_bound"), ("with a Collective name", "without one"), strict=True
    ):
        expect.equal(answer, right, case=case)


@pytest.mark.exercise("profiling.classify_kernel")
def test_copies_are_memcpy_and_memset_alone(submission, expect):
    """Memcpy and Memset are copies, a kernel that copies is memory-bound, and from GPU to GPU is communication."""
    check_classes(
        submission,
        expect,
        {
            "Memcpy HtoD (Pinned -> Device)": "copy",
            "Memcpy DtoD (Device -> Device)": "copy",
            "Memset (Device)": "copy",
            "Memcpy PtoP (Device -> Device)": "communication",
            "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(...)>": "memory_bound",
            "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 4, 64, 64>(...)": "memory_bound",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_inductors_prefix_outranks_the_ops_in_the_name(submission, expect):
    """triton_poi_fused_addmm_gelu_0 is the gelu behind a matmul; triton_tem_fused_mm_1 is a matmul."""
    check_classes(
        submission,
        expect,
        {
            "triton_poi_fused_addmm_gelu_0": "memory_bound",
            "triton_red_fused__scaled_dot_product_flash_attention_native_layer_norm_3": "memory_bound",
            "triton_per_fused__softmax_bmm_2": "memory_bound",
            "triton_tem_fused_mm_1": "matmul",
            "triton_tem_fused_addmm_relu_4": "matmul",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_amd_has_names_of_its_own(submission, expect):
    """On AMD a matmul is Cijk_..., attention is an FmhaFwdKernel, and RCCL's kernels are called nccl."""
    check_classes(
        submission,
        expect,
        {
            "Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0": "matmul",
            "Cijk_Alik_Bljk_HHS_BH_MT128x128x16_MI16x16x16x1_SN_1LDSB0_APM1": "matmul",
            "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<...> >": "attention",
            "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)": "communication",
        },
    )


@pytest.mark.exercise("profiling.classify_kernel")
def test_operators_of_the_cpu_have_a_class_too(submission, expect):
    """aten::addmm is a matmul, aten::add is not; aten::copy_ runs on the cores, gloo:all_reduce between them."""
    check_classes(
        submission,
        expect,
        {
            "aten::mm": "matmul",
            "aten::addmm": "matmul",
            "aten::baddbmm": "matmul",
            "aten::mkldnn_convolution": "matmul",
            "aten::_scaled_dot_product_flash_attention_for_cpu": "attention",
            "aten::add": "memory_bound",
            "aten::native_layer_norm": "memory_bound",
            "aten::copy_": "memory_bound",
            "gloo:all_reduce": "communication",
        },
    )
