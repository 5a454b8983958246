"""Hidden checks of kernels.py: names that the visible checks do not have, of each library."""

import pytest

from specs.trace_names import NAMES

MATMUL = (
    "ampere_fp16_s1688gemm_fp16_256x128_ldg8_f2f_stages_32x1_tn",
    "turing_h1688gemm_128x128_ldg8_stages_32x1_nt",
    "volta_sgemm_32x128_nn",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x32_cga1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_NNT",
    "nvjet_qqtst_128x128_128x6_1x2_h_bz_TNT",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>(...)",
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int> > >(...)",
    "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false, false, true>(...)",
    "sm80_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_kernel__5x_cudnn",
    "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(...)",
    "void gemvNSP_kernel<float, float, float, float, 1, 32, 4, 1024>(...)",
    "triton_tem_fused_bmm_7",
    "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(...)",
    "void marlin::Marlin<__nv_bfloat16, 256, 4, 16, 4, false, 4, 8>(...)",
    "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 2048u, 7168u>(...)",
)
SPLIT = (
    "void splitKreduce_kernel<32, 16, int, float, float, float, float, true, false, false>(...)",
    "void cublasLt::splitKreduce_kernel<16, 32, int, __half, __half, float, false>(...)",
)
ATTENTION = (
    "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::half_t> >(...)",
    "void flash::flash_bwd_convert_dq_kernel<Flash_bwd_kernel_traits<128, cutlass::bfloat16_t> >(...)",
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<...> > >(...)",
    "fmha_cutlassB_f16_aligned_64x64_k64_dropout_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<...>)",
    "cudnn_generated_fort_native_sdpa_sm80_flash_bprop_f16_knob_7_64x64x64_1x4x1",
    "void flashinfer::BatchPrefillWithPagedKVCacheKernel<...>(...)",
    "triton_tem_fused_flex_attention_backward_2",
    "_attn_fwd",
)
BESIDE = (
    "void (anonymous namespace)::softmax_warp_backward<float, c10::BFloat16, float, 11, false, false>(...)",
    "void vllm::reshape_and_cache_kernel<unsigned short, unsigned short>(...)",
    "void vllm::rotary_embedding_kernel<c10::Half, false>(...)",
)
COMMUNICATION = (
    "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)",
    "ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs)",
)
WITHOUT_NCCL = (
    "void dpsk::ep::internode::combine<false, __nv_bfloat16, 8>(...)",
    "void deep_ep::internode_ll::dispatch<true, false, 7168>(...)",
    "void deep_ep::intranode::notify_dispatch<8>(...)",
    "void vllm::cross_device_reduce_2stage<__half, 4>(...)",
    "mscclKernel_Sum_float_LL128(ncclDevComm*, mscclAlgo*)",
    "void rdxn_on_stream_kernel<float, (rdxn_ops)4>(...)",
    "void (anonymous namespace)::two_shot_all_reduce_kernel<float, 16, 8>(...)",
    "void tensorrt_llm::kernels::oneShotAllReduceKernel<__nv_bfloat16, 8>(...)",
)
REDUCES = (
    "void at::native::reduce_kernel<256, 2, at::native::ReduceOp<c10::BFloat16, MaxOps<float> > >(...)",
    "void at::native::batch_norm_backward_reduce_kernel<float, float, float, int>(...)",
)
GATHERS = (
    "void at::native::vectorized_gather_kernel<8, int>(...)",
    "void at::native::_scatter_gather_elementwise_kernel<256, 4>(...)",
)
KERNELS_THAT_COPY = (
    "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(...)>",
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<float, 1, 128, 1>(...)",
    "void at::native::split_with_sizes_copy_out_contiguous_no_cast_kernel(...)",
)
MEMORY_BOUND = (
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(...)",
    "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(...)",
    "void at::native::im2col_kernel<float>(...)",
    "moe_align_block_size_kernel<int>(...)",
    "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::Half> >(...)",
    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float>(...)",
    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(...)",
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2>(...)",
    "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float, int> >(...)",
)
INDUCTOR = (
    "triton_poi_fused_mm_relu_11",
    "triton_red_fused_addmm_native_layer_norm_5",
    "triton_per_fused__scaled_dot_product_efficient_attention_add_8",
)
COPIES = (
    "Memcpy DtoH (Device -> Pinned)",
    "Memcpy HtoD (Pageable -> Device)",
    "Memset (Unknown)",
)
TENSILE = (
    "Cijk_Ailk_Bjlk_SB_MT128x64x16_MI32x32x2x1_SN_1LDSB0_APM1_AF0EM1",
    "Cijk_Alik_Bljk_F8BS_BH_Bias_SAV_UserArgs_MT192x256x64_MI16x16x1_SN",
)
OPERATORS = {
    "aten::bmm": "matmul",
    "aten::matmul": "matmul",
    "aten::linear": "matmul",
    "aten::_scaled_mm": "matmul",
    "aten::convolution": "matmul",
    "aten::scaled_dot_product_attention": "attention",
    "aten::mul": "memory_bound",
    "aten::sum": "memory_bound",
    "aten::_softmax": "memory_bound",
    "aten::embedding": "memory_bound",
    "aten::to": "memory_bound",
}


def check_classes(submission, expect, wanted, what):
    """Every name is asked for before the first is compared; the message says of what library, and no name."""
    got = {name: submission.profiling.classify_kernel(name, {}) for name in wanted}
    for name, right in wanted.items():
        expect.equal(got[name], right, case=what)


@pytest.mark.exercise("profiling.classify_kernel", weight=2)
def test_any_matmul(submission, expect):
    """Matmuls, convolutions and matrix-vector products of four libraries, and kernels that are none."""
    wanted = {**dict.fromkeys(MATMUL, "matmul"), **dict.fromkeys(MEMORY_BOUND, "memory_bound")}
    check_classes(submission, expect, wanted, "a matmul, or an elementwise kernel")


@pytest.mark.exercise("profiling.classify_kernel")
def test_any_sum_over_a_split_matmul(submission, expect):
    """The second kernel of a split matmul, and sums that are none."""
    wanted = {**dict.fromkeys(SPLIT, "matmul"), **dict.fromkeys(REDUCES, "memory_bound")}
    check_classes(submission, expect, wanted, "a sum over the parts of a matmul, or over a tensor")


@pytest.mark.exercise("profiling.classify_kernel", weight=2)
def test_any_attention(submission, expect):
    """Attention forward and backward of five libraries, and what stands beside it."""
    wanted = {**dict.fromkeys(ATTENTION, "attention"), **dict.fromkeys(BESIDE, "memory_bound")}
    check_classes(submission, expect, wanted, "attention, or what stands beside it")


@pytest.mark.exercise("profiling.classify_kernel", weight=2)
def test_any_communication(submission, expect):
    """Collectives of NCCL, and of seven libraries that do not call them so; reductions and gathers of one GPU."""
    wanted = {
        **dict.fromkeys(COMMUNICATION + WITHOUT_NCCL, "communication"),
        **dict.fromkeys(REDUCES + GATHERS, "memory_bound"),
    }
    check_classes(submission, expect, wanted, "communication, or a reduction or gather of one GPU")


@pytest.mark.exercise("profiling.classify_kernel")
def test_any_copy(submission, expect):
    """Copies by the copy engine and memory sets, kernels that copy, and a copy from GPU to GPU."""
    wanted = {
        **dict.fromkeys(COPIES, "copy"),
        **dict.fromkeys(KERNELS_THAT_COPY, "memory_bound"),
        "Memcpy PtoP (Device -> Device)": "communication",
    }
    check_classes(submission, expect, wanted, "a copy, or a kernel that copies")


@pytest.mark.exercise("profiling.classify_kernel")
def test_any_kernel_of_inductor(submission, expect):
    """Fused loops that are named after the ops that they came from, and templates."""
    wanted = {**dict.fromkeys(INDUCTOR, "memory_bound"), "triton_tem_fused_addmm_12": "matmul"}
    check_classes(submission, expect, wanted, "a kernel of Inductor")


@pytest.mark.exercise("profiling.classify_kernel")
def test_any_name_of_amd(submission, expect):
    """Tensile's matmuls, composable kernel's attention, RCCL."""
    amd = {name: kind for kind, names in NAMES["rocm"].items() for name in names if kind != "memory_bound"}
    check_classes(submission, expect, {**amd, **dict.fromkeys(TENSILE, "matmul")}, "a kernel on AMD")


@pytest.mark.exercise("profiling.classify_kernel")
def test_any_operator(submission, expect):
    """Operators of the CPU."""
    check_classes(submission, expect, OPERATORS, "an operator")


@pytest.mark.exercise("profiling.classify_kernel")
def test_any_name_with_a_collectives_args(submission, expect, rng):
    """A name that says nothing is memory-bound, and communication where its args name a collective."""
    name = f"void kernel_{rng.randint(10**4, 10**6)}<float>(float*, long)"
    args = {"Collective name": rng.choice(["allgather", "reduce_scatter", "alltoallv"]), "Group size": 4}
    got = [submission.profiling.classify_kernel(name, each) for each in (args, {"stream": 7})]
    expect.equal(got[0], "communication", case="with a Collective name")
    expect.equal(got[1], "memory_bound", case="without one")
