/* test_gen_extended.c -- extended.c: functions against values of 400 bits (mpmath 1.3), arithmetic against
 * its laws. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "generator/graph/functions.h"
#include "generator/graph/special.h"

/* Value as the sum of two numbers of 60 bits. */
static const struct row {
    enum hg_op f;
    double x;
    long double high, low;
} rows[] = {
    {HG_EXP, -700.25, 0xd7aff4d242e472bp-1070L, 0xff6985d93fae5c6p-1131L},
    {HG_EXP, -40.0, 0x9cbc924cd8d1215p-117L, -0xab5eb7ca42c17bcp-178L},
    {HG_EXP, -0.001, 0xffbe7f2b78d4eddp-60L, 0xe606f4f6ade5cf7p-123L},
    {HG_EXP, 1e-18, 0x800000000000001p-59L, -0xd8da22e2dbc53ffp-120L},
    {HG_EXP, 0.3, 0xacc82c6460d4acap-59L, -0xeb8d258ecf4121fp-120L},
    {HG_EXP, 1.5, 0x8f69ff327e2a0acp-57L, -0x91b9a72bc1621bcp-120L},
    {HG_EXP, 20.75, 0xf4e0e31af83c4fcp-30L, 0xde6adc8e041837cp-93L},
    {HG_EXP, 705.5, 0xe22f08f126b732ep958L, 0xcc159e62da3d80ap896L},
    {HG_EXPM1, -50.0, -0x1000000000000000p-60L, 0xe92beaa3f041f6cp-132L},
    {HG_EXPM1, -0.7, -0x80dfc9188aaaf75p-60L, 0xa92966c1fc7320ap-121L},
    {HG_EXPM1, -1e-09, -0x89705f400f8ecaep-89L, -0x904a42b003da72dp-150L},
    {HG_EXPM1, 1e-20, 0xbce508649211180p-126L, 0x8b61313bbabcde8p-193L},
    {HG_EXPM1, 0.2, 0xe2b767962b233dfp-62L, -0xebb6f6716855155p-125L},
    {HG_EXPM1, 0.5, 0xa61298e1e069bc9p-60L, 0xe5bfdf56dbe67f3p-121L},
    {HG_EXPM1, 3.0, 0x98af2dfb7d882f9p-55L, 0xd4bdfc53744c3a4p-116L},
    {HG_EXPM1, 300.0, 0xe02e0538b35a53ap373L, -0xa656182734afb4bp310L},
    {HG_LOG, 1e-300, -0xacb1a23fc3fda9bp-50L, 0xb31e5959b634707p-111L},
    {HG_LOG, 0.25, -0xb17217f7d1cf79bp-59L, 0x86c3898cff81a13p-120L},
    {HG_LOG, 0.9999847412109375, -0x800040002aaacabp-75L, 0xa77774ccca83a64p-136L},
    {HG_LOG, 1.000000238418579, 0xfffffe000005555p-82L, 0xa8aaaab11110fbcp-143L},
    {HG_LOG, 1.75, 0x8f42faf3820681fp-60L, -0x9d32d060e1ca0d2p-124L},
    {HG_LOG, 3.0, 0x8c9f53d5681854cp-59L, -0x95be672aafac483p-120L},
    {HG_LOG, 1e+200, 0xe6422daa5aa78cep-51L, 0xadbf8267d4c7074p-113L},
    {HG_LOG1P, -0.96875, -0xddce9df5c643581p-58L, -0xd78b940fc09df69p-119L},
    {HG_LOG1P, -0.25, -0x934b1089a6dc93cp-61L, -0xefadd9db02aa70bp-124L},
    {HG_LOG1P, 1e-10, 0xdbe6fece8eb495ep-93L, 0xdd20280995ecfc1p-154L},
    {HG_LOG1P, 1e-25, 0xf79687aed3eec80p-143L, -0xef73d256a5c0fcbp-227L},
    {HG_LOG1P, 0.5, 0xcf991f65fcc25f9p-61L, 0xb68d766f4052218p-122L},
    {HG_LOG1P, 7.0, 0x851591f9dd5b9b4p-58L, 0xd76ac6b202f6390p-122L},
    {HG_LOG1P, 10000000000.0, 0xb834f15518c2731p-55L, 0xfbe4ebc09f4033ep-116L},
    {HG_SIN, 1e-12, 0x8cbccc096f50880p-99L, -0xe2dadb773744bffp-182L},
    {HG_SIN, 0.5, 0xf57743a2582f7f4p-61L, 0xec9786c9fb06f6dp-123L},
    {HG_SIN, 1.5, 0xff5bd4d9636c56fp-60L, 0xdc2ffb595de9fb3p-122L},
    {HG_SIN, 3.140625, 0xfdaa1f7e64e9c88p-70L, -0xb2abb81bbde0fc5p-131L},
    {HG_SIN, -20.5, -0xff303cc61b1907ap-60L, -0xff8a27f70f2bc60p-124L},
    {HG_SIN, 1000000.0, -0xb332592b46c33a5p-61L, 0xdc6696c8b235c00p-123L},
    {HG_COS, 1e-12, 0x1000000000000000p-60L, -0x9abe14cd4475399p-140L},
    {HG_COS, 0.75, 0xbb4ff632a908f74p-60L, -0x9f573e31a313362p-123L},
    {HG_COS, 1.5703125, 0xfdaa21708254898p-71L, 0xf3d0cc2aee5a74fp-132L},
    {HG_COS, -4.0, -0xa7553036d926062p-60L, -0xcdb4385b8f75456p-122L},
    {HG_COS, 100.25, 0xf5f6395d35875e7p-60L, 0x8f3cf159ae015e3p-121L},
    {HG_COS, 1000000.0, 0xefcefcc83699635p-60L, 0xec89a83199fe1a5p-121L},
    {HG_TAN, -0.5, -0x8bda7adf9a3a522p-60L, 0xe869b7f877dbbb3p-121L},
    {HG_TAN, 1.25, 0xc09cca1f118d40bp-58L, -0xf503267ad84e2f5p-119L},
    {HG_TAN, 1.5703125, 0x812daedb7198960p-48L, 0xe1bb7d9cfdf01f1p-112L},
    {HG_ASIN, 1e-09, 0x89705f4136b4a80p-89L, 0xd3466cf4c280b38p-152L},
    {HG_ASIN, -0.5, -0x860a91c16b9b2c2p-60L, -0xcb7665c1eacf5a2p-122L},
    {HG_ASIN, 0.9990234375, 0xc36794db5129328p-59L, -0xab5beb0a0d593a3p-120L},
    {HG_ACOS, -0.5, 0x860a91c16b9b2c2p-58L, 0xcb7665c1eacf5a2p-120L},
    {HG_ACOS, 0.25, 0xa8b807060a59280p-59L, -0xfea9aa3a13a5855p-120L},
    {HG_ACOS, 0.9999999403953552, 0xb504f3430f9d56fp-71L, -0xe897e11924fd64bp-132L},
    {HG_ATAN, 1e-12, 0x8cbccc096f50880p-99L, -0xe2dadb773744bffp-181L},
    {HG_ATAN, -0.75, -0xa4bc7d1934f7092p-60L, -0x83350fe548afb59p-121L},
    {HG_ATAN, 50.0, 0xc68094d66b68e16p-59L, 0xc0695d8d0927e8fp-120L},
    {HG_SINH, 1e-10, 0xdbe6fecebdedd80p-93L, 0xd8587ff47d7156fp-162L},
    {HG_SINH, -2.0, -0xe81e7b1db70cfb8p-58L, 0xcb37fd369dff68fp-119L},
    {HG_SINH, 40.0, 0xd11069cbcb97546p-3L, -0xbc9ef8ba5526261p-64L},
    {HG_COSH, 1e-05, 0x800000001b7cdfep-59L, -0xc4e8ccff1d4c879p-120L},
    {HG_COSH, -2.0, 0xf0c7d06f96cde15p-58L, -0xcd808e888b2f3fap-119L},
    {HG_COSH, 40.0, 0xd11069cbcb97546p-3L, -0xbc9ef8ba5526213p-64L},
    {HG_TANH, 1e-10, 0xdbe6fecebdedd80p-93L, -0xd8587ff47d7156fp-161L},
    {HG_TANH, -0.5, -0xec9a9ebab4579b3p-61L, 0xed711de39a4f72cp-122L},
    {HG_TANH, 3.0, 0xfebbe888d057ff1p-60L, 0xaf0a8b0b7fb5e58p-125L},
    {HG_TANH, 30.0, 0x1000000000000000p-60L, -0xad70c8d4cac2d1bp-145L},
    {HG_ERF, 1e-08, 0xc1daa3fdbca89d3p-86L, -0xfb86b7cbe3d73a2p-147L},
    {HG_ERF, 0.5, 0x853f7ae0c76e916p-60L, -0xbfb072e72ec2b5ap-123L},
    {HG_ERF, -1.75, -0xfc9683bfc6ab699p-60L, 0x954216d80632285p-121L},
    {HG_ERF, 3.5, 0xfffff3886ab2f39p-60L, 0xf5296bb6e01f405p-122L},
    {HG_ERF, 5.0, 0xfffffffffe4f3e6p-60L, -0xeb3eee7126bd4bcp-121L},
    {HG_ERFC, -2.0, 0xff66b8509e578cdp-59L, -0x8d7fe6fb465cc11p-120L},
    {HG_ERFC, 0.5, 0xf5810a3e7122dd4p-61L, 0xbfb072e72ec2b5ap-123L},
    {HG_ERFC, 2.5, 0xd55c2cd90564f31p-71L, 0xf4ff748376b07fep-134L},
    {HG_ERFC, 3.9375, 0xdcc11e2893b704cp-85L, -0xb910e5b4e6d4f59p-146L},
    {HG_ERFC, 4.5, 0xd82e7f174ca1a4cp-92L, -0xe3db00aa58b13e7p-156L},
    {HG_ERFC, 10.0, 0xbec53f9545167cfp-208L, -0xc8c773ea389b321p-269L},
    {HG_ERFC, 26.0, 0x9425ff0e6f511d7p-1040L, 0x9b6819f779dfe72p-1101L},
    {HG_SINC, 1e-06, 0xffffffffffd1166p-60L, 0xd4f0b24cfa963a2p-121L},
    {HG_SINC, 0.5, 0xf57743a2582f7f4p-60L, 0xec9786c9fb06f6dp-122L},
    {HG_SINC, 0.99609375, 0xd7b79f38c7ce44fp-60L, -0x907953dc8b015d4p-121L},
    {HG_SINC, 1.125, 0xcd50e59d3db77ecp-60L, -0xbc8be35feb8d391p-122L},
    {HG_SINC, 3.140625, 0xa189a16dc88ab01p-71L, 0xd28d87b9fe11e77p-135L},
    {HG_SINC, 40.0, 0x9899638cdcc663ap-65L, 0xf45a4d147ed825bp-128L},
    {HG_DSINC, 1e-06, -0xb2f4fc07947cdd8p-81L, 0xc6a491758800dbdp-142L},
    {HG_DSINC, 0.5, -0xa6701b7be22812bp-62L, 0xb7f827b0edefe52p-127L},
    {HG_DSINC, 0.99609375, -0x99b82af1431030ep-61L, -0xc5002bcea1c98c9p-124L},
    {HG_DSINC, -1.125, 0xa8c5e3a882e59d0p-61L, 0x94030735bda937fp-126L},
    {HG_DSINC, 40.0, -0x8c67659fb98eed2p-65L, 0x847133e9e8ab496p-127L},
    {HG_D2SINC, 1e-06, -0xaaaaaaaaaa725f2p-61L, -0xbb42f82af8c85cep-122L},
    {HG_D2SINC, 0.5, -0x9e0e504cec0ed93p-61L, 0xfc69743fe73b0c9p-122L},
    {HG_D2SINC, 0.99609375, -0xf59487285831486p-62L, 0xe2295537ef352d9p-124L},
    {HG_D2SINC, 1.125, -0xdd2ea5e4ec91221p-62L, 0xbc31daf5695622ap-127L},
    {HG_D2SINC, 40.0, -0x91943811ad18d7cp-65L, -0xd9ffce2af8ba51ap-126L},
    {HG_SOFTPLUS, -40.0, 0x9cbc924cd8d1213p-117L, 0xa9dcbd1daeebe80p-179L},
    {HG_SOFTPLUS, -1.0, 0xa063d5fdf60923ap-61L, 0xc4a2160c4f5c485p-127L},
    {HG_SOFTPLUS, 0.5, 0xf95d1bf6d7018fap-60L, -0xbbad86cdffe790ap-121L},
    {HG_SOFTPLUS, 30.0, 0xf00000000000d2bp-55L, 0xe0c2ac7e19f37e3p-116L},
    {HG_LOGISTIC, -40.0, 0x9cbc924cd8d1212p-117L, -0xaac48b180e529bap-178L},
    {HG_LOGISTIC, -1.0, 0x89b2b0a2a5d4327p-61L, -0x8947710e32d846ap-122L},
    {HG_LOGISTIC, 0.5, 0x9f597ea69a1c85fp-60L, 0x9ac6b8ec2394e40p-123L},
    {HG_LOGISTIC, 30.0, 0xffffffffffe5a92p-60L, -0xc2ac7cbf11ec81cp-124L},
    {HG_LGAMMA, 1e-06, 0xdd0c54318e161d1p-56L, -0xdceeed27bc01c18p-117L},
    {HG_LGAMMA, 0.5, 0x928682473d0de86p-60L, -0xa81aa4e55ef02dap-123L},
    {HG_LGAMMA, 1.75, -0xacda7eb43ad3718p-63L, -0xc239ee5d7e31d84p-124L},
    {HG_LGAMMA, 7.5, 0xf119830720fbfa8p-57L, -0xc2df11d9947c1d7p-118L},
    {HG_LGAMMA, 40.0, 0xd5437614b4c08f4p-53L, -0xcbab186318a7ff0p-116L},
    {HG_LGAMMA, 100000.0, 0x8054bdabfa6170bp-39L, 0xd0d62e859eb16b9p-100L},
    {HG_DIGAMMA, 1e-06, -0xf424093c44c4ac1p-40L, 0xbb820d1ff979bf9p-101L},
    {HG_DIGAMMA, 0.5, -0xfb544be990a7dd8p-59L, 0xe69e9653bdb1d1dp-122L},
    {HG_DIGAMMA, 2.25, 0x929267bd96dc13cp-60L, -0x9d852a526842e38p-121L},
    {HG_DIGAMMA, 7.5, 0xf92f59680a43459p-59L, 0x8abbc0e0950aea5p-122L},
    {HG_DIGAMMA, 40.0, 0xeb48f29c37a1265p-58L, -0x9386f57fc68d525p-119L},
    {HG_DIGAMMA, 100000.0, 0xb834ec16e75e044p-56L, 0xcd14c8240598377p-118L},
    {HG_TRIGAMMA, 1e-06, 0xe8d4a51001a5203p-20L, -0xf26824aa808d0d8p-82L},
    {HG_TRIGAMMA, 0.5, 0x9de9e64df22ef2dp-57L, 0x95b89b36602306bp-119L},
    {HG_TRIGAMMA, 2.25, 0x8ead1f9bb722984p-60L, 0x876ee81b9d03584p-121L},
    {HG_TRIGAMMA, 7.5, 0x9209e6d0cee8189p-62L, 0x81be9ff06924d8ap-123L},
    {HG_TRIGAMMA, 40.0, 0xcf619ee2fb675f6p-65L, 0xb233f181105a27fp-126L},
    {HG_TRIGAMMA, 100000.0, 0xa7c5e340e6fda8bp-76L, 0xc79c1e7b65082c8p-138L},
    {HG_TETRAGAMMA, 1e-06, -0xde0b6b3a7640089p1L, 0xad2fb4065bb4280p-63L},
    {HG_TETRAGAMMA, 0.5, -0x86a16022902ae89p-55L, 0xcfcbccf31564191p-116L},
    {HG_TETRAGAMMA, 2.25, -0x9b83cd146b9984ap-61L, 0xb34d8ecf617adc6p-122L},
    {HG_TETRAGAMMA, 7.5, -0xa65733729f0174ap-65L, 0xd1849285b651c44p-127L},
    {HG_TETRAGAMMA, 40.0, -0xa7fcb870ca3a487p-70L, -0xc303fd4d89a08a2p-131L},
    {HG_TETRAGAMMA, 100000.0, -0xdbe78eec6a1e529p-93L, 0xeffe45332da7acep-154L},
    {HG_GAMMA, 1e-06, 0xf423f6c3ba8b4aap-40L, -0xbb600b9954109e0p-101L},
    {HG_GAMMA, 0.5, 0xe2dfc48da77b554p-59L, -0xc789f5be5448d8fp-121L},
    {HG_GAMMA, 1.25, 0xe809fe23f77751ep-60L, 0xd9c528528a354c7p-121L},
    {HG_GAMMA, 4.5, 0xba1b8f3c33632bfp-56L, -0x81d795cb1091e0fp-117L},
    {HG_GAMMA, 20.0, 0xd815c9834480000p-3L, 0},
    {HG_GAMMA, 150.5, 0x979361a63612ad2p810L, -0xea85068244320e4p749L},
    {HG_EXPREL, -300.0, 0xda740da740da741p-68L, -0x962fc962fc962fcp-130L},
    {HG_EXPREL, -2.5, 0xbbfd2e99226fe2bp-61L, -0xac74d7559166e73p-123L},
    {HG_EXPREL, -1e-09, 0xfffffffdda3e830p-60L, -0xe3e17e85763e7ebp-123L},
    {HG_EXPREL, 0.75, 0xbea279b35269fa7p-59L, 0x8239f429efa0b50p-122L},
    {HG_EXPREL, 3.0, 0xcb943d4f520aea2p-57L, -0xe6b568ed93bec97p-120L},
    {HG_EXPREL, 60.0, 0xc9864986931479fp21L, -0xfd14a0b754ec793p-40L},
    {HG_DEXPREL, -300.0, 0xba69dbdd3ac13d8p-76L, -0xed62cdfbb8d2144p-138L},
    {HG_DEXPREL, -2.5, 0xe989d1bff40c289p-63L, 0xe9ec0b76cf46457p-124L},
    {HG_DEXPREL, -1e-09, 0xfffffffd22fe040p-61L, -0xee40b0730649b1bp-124L},
    {HG_DEXPREL, 0.75, 0xd63e598873b9591p-60L, -0xc05efe06fd45738p-121L},
    {HG_DEXPREL, 3.0, 0x9262d38a36b1f17p-57L, -0xd11e3c27989fcc3p-118L},
    {HG_DEXPREL, 60.0, 0xc62a72f7881866dp21L, -0x8e1dee8cd6910fep-42L},
    {HG_D2EXPREL, -300.0, 0x9f12a7232eb960dp-83L, 0xe938d47cb48e790p-144L},
    {HG_D2EXPREL, -2.5, 0xef2c5dfc3392899p-64L, -0x859b164f9f7fa7fp-129L},
    {HG_D2EXPREL, -1e-09, 0xaaaaaaa884e92dbp-61L, -0xcff5d96c5c3993ap-122L},
    {HG_D2EXPREL, 0.75, 0x974959fac5905ccp-60L, 0xecc4f4d245dee3ep-121L},
    {HG_D2EXPREL, 3.0, 0xe94f609105d33d0p-58L, 0xa3784668ac4b00ep-119L},
    {HG_D2EXPREL, 60.0, 0xc2eb45b1860298ap21L, -0xc497b01f8423544p-41L},
    {HG_LOG1MEXP, -1e-09, -0xa5c93f99712bcd6p-55L, 0xff68ecaa7ec9bebp-118L},
    {HG_LOG1MEXP, -0.5, -0xeec8d7f3c3f330fp-60L, 0xe88e2fad2c900b3p-121L},
    {HG_LOG1MEXP, -0.75, -0xa3acab2eeebed72p-60L, 0x91b8c600564546dp-121L},
    {HG_LOG1MEXP, -4.0, -0x976ecab2364faa0p-65L, -0x99a6edbc7ee4678p-127L},
    {HG_LOG1MEXP, -50.0, -0xe92beaa3f041f6cp-132L, 0xe2460853b019bdbp-193L},
    {HG_ERFCX, -20.0, 0x871cc6be80b81ddp519L, -0xe1924003ffb261bp458L},
    {HG_ERFCX, -0.75, 0xc033f6ebe371cb1p-58L, 0xf4bd9ec0ba870d6p-119L},
    {HG_ERFCX, 1e-09, 0xfffffffb2755802p-60L, 0xee269680511e464p-124L},
    {HG_ERFCX, 0.5, 0x9d9de1e4c587965p-60L, 0xaf529dbcefe1621p-121L},
    {HG_ERFCX, 2.875, 0xbe852f4eeab8824p-62L, -0xbae6128dd3feb98p-124L},
    {HG_ERFCX, 3.0, 0xb74c13e914e9667p-62L, -0xea7bce26b25cbdep-127L},
    {HG_ERFCX, 7.5, 0x98ba17a6c6a6960p-63L, 0xfa86d54391ccd90p-124L},
    {HG_ERFCX, 100000.0, 0xbd4f8425a195342p-77L, 0xfc871bcdf1bc171p-138L},
    {HG_DERFCX, -20.0, -0xa8e3f86e20e6254p524L, 0x99f6d004ff9efa1p463L},
    {HG_DERFCX, -0.75, -0xb442a7d16fcc327p-57L, -0xa31cdb648745402p-118L},
    {HG_DERFCX, 1e-09, -0x906eba7dc9586eap-59L, 0xee6640066e7d42bp-120L},
    {HG_DERFCX, 0.5, -0x833f931f642f3acp-60L, -0xad2284e2eb1e4ebp-121L},
    {HG_DERFCX, 2.875, -0xefe0102b84d95e3p-64L, -0xb29ffd72d7b18afp-127L},
    {HG_DERFCX, 3.0, -0xdeb57268a58b774p-64L, 0xd8f420c84479d61p-125L},
    {HG_DERFCX, 7.5, -0xa0222add4f9df31p-66L, 0xa3d69f6b30330ecp-128L},
    {HG_DERFCX, 100000.0, -0xf8221996142f3a5p-94L, -0xf0104030f8ab94dp-155L},
    {HG_D2ERFCX, -20.0, 0xd36084ed08600aap529L, -0xe3e54d26418691dp468L},
    {HG_D2ERFCX, -0.75, 0xe74bf95305920b6p-56L, 0xe968e7d7856eed9p-118L},
    {HG_D2ERFCX, 1e-09, 0xfffffff64eab005p-59L, 0x89d55fcb765d2b7p-120L},
    {HG_D2ERFCX, 0.5, 0xb7fc30aa26dff1ep-60L, 0xb182b696f4a4757p-121L},
    {HG_D2ERFCX, 2.875, 0x90e11d7d19e2345p-64L, -0xd8bc8d18cc143bdp-126L},
    {HG_D2ERFCX, 3.0, 0x821ff0d4c606682p-64L, 0xa07add9e41aca5ap-125L},
    {HG_D2ERFCX, 7.5, 0xa683ddd300a08adp-68L, -0xac90022f9b38081p-131L},
    {HG_D2ERFCX, 100000.0, 0xa29dd7ea03fb5d5p-109L, -0xd5f8a1c9496cf0bp-170L},
    {HG_ERFINV, -0.5, -0xf430fdd926004f6p-61L, 0xcacc3235f04377dp-123L},
    {HG_ERFINV, 0.001, 0xe851b2a1f0fe97fp-70L, -0xdf159b31072b368p-133L},
    {HG_ERFINV, 0.25, 0xe6b8340eaffb808p-62L, 0xe50ae40c41ee906p-124L},
    {HG_ERFINV, 0.9, 0x94e00a33b83284ap-59L, -0xd86d20a79cb983cp-121L},
    {HG_ERFINV, 0.999, 0x94e988a02e6d9d6p-58L, -0xd8994207446e65fp-119L},
    {HG_ERFINV, 0.9999999999990905, 0xa1a3df9b7dd7409p-57L, 0xa3e28dc4b2ee780p-118L},
    {HG_ERFINV, 0.9999999999999999, 0xbba27c7ba74a536p-57L, -0x942a5d22a3f7a58p-121L},
    {HG_ERFI, -0.5, -0x9d6d801f54058d3p-60L, 0xbb930c269825fe5p-121L},
    {HG_ERFI, 0.001, 0x93e62278a264f47p-69L, 0xa16de477e0ae3a4p-131L},
    {HG_ERFI, 1.5, 0x92b622851d72031p-57L, 0xbd09189ac4c7d2dp-118L},
    {HG_ERFI, 4.25, 0x91e193840e7eac9p-36L, 0x855e6d855aebabdp-98L},
    {HG_ERFI, 12.0, 0xa24a335aed88c27p+144L, 0xe574222193964cbp+81L},
    {HG_ERFI, 26.0, 0xd54c5ff1038fbdcp+910L, 0xc9fb0d2864afc76p+845L},
};

/* Functions of an order. */
static const struct row_of_order {
    enum hg_op f;
    double x[3];
    long double high, low;
} rows_of_order[] = {
    {HG_BESSEL_J, {0, 0.03125}, 0xfff0003fff8e395p-60L, 0xaaa1908379fd6a3p-121L},
    {HG_SPHERICAL_J, {0, 0.03125}, 0xfff555777743746p-60L, 0xafe41376d479195p-121L},
    {HG_BESSEL_J, {0, 1.5}, 0x830723674b28d6fp-60L, -0xb62048089691622p-121L},
    {HG_SPHERICAL_J, {0, 1.5}, 0xaa3d3890ecf2e4ap-60L, 0x92caa790e946a77p-122L},
    {HG_BESSEL_J, {0, 5.25}, -0xbea13ef30a9e7c5p-63L, 0xb2652a3a1f7289ap-124L},
    {HG_SPHERICAL_J, {0, 5.25}, -0xa7887b11466b816p-62L, -0xc02fcfad82a221bp-124L},
    {HG_BESSEL_J, {0, 31.0}, 0xd1bfa1d5f2feafap-64L, 0x8f0aff196aa055dp-125L},
    {HG_SPHERICAL_J, {0, 31.0}, -0xd58a5875b5908a5p-66L, 0x83ba8d039a3a6e4p-132L},
    {HG_BESSEL_J, {0, 75.5}, 0x919a49762fb7fa7p-63L, 0x9cc1083db64f1edp-124L},
    {HG_SPHERICAL_J, {0, 75.5}, 0xb0625a8fb1eacdbp-69L, 0xd38eb778fe8d0ccp-130L},
    {HG_BESSEL_J, {0, 3000.0}, -0xff52bc49a3bf54ep-67L, 0xb5650cbdaabd797p-129L},
    {HG_SPHERICAL_J, {0, 3000.0}, 0x993992e46fa1cdbp-73L, -0xa834966392fd320p-135L},
    {HG_BESSEL_J, {1, 0.03125}, 0xfff800155538e3ap-66L, 0x9f48704353da0dap-127L},
    {HG_SPHERICAL_J, {1, 0.03125}, 0xaaa6667026f6e14p-66L, -0x9a126be19749f92p-128L},
    {HG_BESSEL_J, {1, 1.5}, 0x8ed4ed4eb7e408bp-60L, -0xaeebf156d9fe835p-121L},
    {HG_SPHERICAL_J, {1, 1.5}, 0xcad72f01894c51dp-61L, 0xc8174129790c2b6p-123L},
    {HG_BESSEL_J, {1, 5.25}, -0xb0a5ac1552b3fadp-61L, 0xe47dbfb5731c9e1p-122L},
    {HG_SPHERICAL_J, {1, 5.25}, -0x83cac8b533fc4d3p-62L, -0xe9d4fbba3d73ca5p-126L},
    {HG_BESSEL_J, {1, 31.0}, -0x883786c69e46df0p-62L, -0xd4c033e9fb888c1p-125L},
    {HG_SPHERICAL_J, {1, 31.0}, -0xf52c1842f7e675bp-65L, -0xf42047b42cc1221p-127L},
    {HG_BESSEL_J, {1, 75.5}, -0xec1db0ff3a72d98p-64L, 0x95520a8e0269320p-127L},
    {HG_SPHERICAL_J, {1, 75.5}, -0xd79775e86fcae5bp-66L, -0xa90914e11458711p-129L},
    {HG_BESSEL_J, {1, 3000.0}, 0xc9a337ddee4b9cbp-66L, -0xa15e41c09227eb8p-129L},
    {HG_SPHERICAL_J, {1, 3000.0}, 0xaa868d2f5e9c233p-71L, -0xbba3b48e9097e85p-132L},
    {HG_BESSEL_J, {2, 0.03125}, 0xfffaaab55549f4ap-73L, 0xdbf7fb3b946f48fp-134L},
    {HG_SPHERICAL_J, {2, 0.03125}, 0x88861865dbaedc9p-73L, -0xf23002f84a19a6fp-136L},
    {HG_BESSEL_J, {2, 1.5}, 0xeda86406a81cd29p-62L, -0x86fa46b36c1f79cp-125L},
    {HG_SPHERICAL_J, {2, 1.5}, 0x8267d9c27165b4cp-62L, 0xd53266623f160fep-124L},
    {HG_BESSEL_J, {2, 5.25}, -0x9d17f011c23cdf2p-64L, -0x940e2494662c563p-125L},
    {HG_SPHERICAL_J, {2, 5.25}, 0xb87259e5bf24617p-63L, -0xceee9d6d186e68ep-124L},
    {HG_BESSEL_J, {2, 31.0}, -0xf4e6bc5bc942862p-64L, 0xef9e47dfbef3c22p-125L},
    {HG_SPHERICAL_J, {2, 31.0}, 0xa61674cbd82a20fp-66L, 0xd0c659d318898c5p-128L},
    {HG_BESSEL_J, {2, 75.5}, -0x94bae46386f4d66p-63L, 0xfe04bfd8cc3df16p-124L},
    {HG_SPHERICAL_J, {2, 75.5}, -0xf4eaa8bb10caaa4p-69L, 0xcda1ba2721bd4c9p-130L},
    {HG_BESSEL_J, {2, 3000.0}, 0xff978fa5c114154p-67L, -0xd4d164a9abb0eedp-130L},
    {HG_SPHERICAL_J, {2, 3000.0}, -0x988af4a1afc3febp-73L, -0x8cecf20b40308b0p-138L},
    {HG_BESSEL_J, {7, 0.03125}, 0xd00b60b77d3e2b2p-114L, -0x8f5ac71508ae638p-176L},
    {HG_SPHERICAL_J, {7, 0.03125}, 0x846cab2fe94042bp-115L, 0xb293e2f530940f8p-184L},
    {HG_BESSEL_J, {7, 1.5}, 0xcf0775385db5448p-75L, -0xf8dca65238d21bdp-137L},
    {HG_SPHERICAL_J, {7, 1.5}, 0x845480289435fe6p-76L, 0xa322f1a2e411d9cp-137L},
    {HG_BESSEL_J, {7, 5.25}, 0x8cbc82d6205c2bap-63L, 0xf1eb1351ff6247cp-126L},
    {HG_SPHERICAL_J, {7, 5.25}, 0xbe015231457987dp-65L, -0x94dcfb1990e3ae5p-127L},
    {HG_BESSEL_J, {7, 31.0}, 0xee2d2375e683163p-64L, 0xa17424f40b28328p-126L},
    {HG_SPHERICAL_J, {7, 31.0}, 0xec8657e6786363cp-65L, 0xc247c586c2c158bp-126L},
    {HG_BESSEL_J, {7, 75.5}, 0x84fbe4bf817750ap-64L, 0xbc5c0ff9013d137p-125L},
    {HG_SPHERICAL_J, {7, 75.5}, 0xc1aab4869f7e26ep-66L, -0x8c5aa111775fc51p-128L},
    {HG_BESSEL_J, {7, 3000.0}, -0xc89c1e285b42519p-66L, -0xf27391050ec9f70p-128L},
    {HG_SPHERICAL_J, {7, 3000.0}, -0xaadcf97c88a4078p-71L, 0x8721c31c0a38c5dp-133L},
    {HG_BESSEL_J, {30, 0.03125}, 0x9c9911af074732dp-347L, 0xb9cd441d177afebp-409L},
    {HG_SPHERICAL_J, {30, 0.03125}, 0xc836685667b9753p-350L, -0xbc6a736cb8f979ep-412L},
    {HG_BESSEL_J, {30, 1.5}, 0xe0f9a8448242afbp-180L, -0xf28c7c579b790f5p-242L},
    {HG_SPHERICAL_J, {30, 1.5}, 0x8fdbbce3b57cb7fp-182L, -0x93334ac71683770p-244L},
    {HG_BESSEL_J, {30, 5.25}, 0xd595336d2af5a81p-126L, -0xb50e3c795aaee3cp-197L},
    {HG_SPHERICAL_J, {30, 5.25}, 0x890592da6c7843ap-128L, 0xdaab467fc6944bbp-189L},
    {HG_BESSEL_J, {30, 31.0}, 0xbb7b37c33e0a994p-62L, 0xffd5f98e5781516p-128L},
    {HG_SPHERICAL_J, {30, 31.0}, 0x969bd2818759dabp-64L, 0xca49df0414b155ap-131L},
    {HG_BESSEL_J, {30, 75.5}, -0xebd336ab1ee3942p-64L, 0x9a4b7b7ada71931p-125L},
    {HG_SPHERICAL_J, {30, 75.5}, -0xebcc3393caa1e8ap-70L, 0x8eb66ada2f32913p-132L},
    {HG_BESSEL_J, {30, 3000.0}, 0x9c5e248a33ea04bp-66L, 0xf2df1583fbf284cp-128L},
    {HG_SPHERICAL_J, {30, 3000.0}, -0xb85f51ba9e2c862p-75L, 0x87e2b1e5b6f863dp-136L},
    {HG_FADDEEVA_RE, {0, 0.0, 0.5}, 0x9d9de1e4c587965p-60L, 0xaf529dbcefe1621p-121L},
    {HG_FADDEEVA_RE, {0, 0.25, 0.0}, 0xf07d5fde38151e7p-60L, 0xbc63fc0c126b175p-122L},
    {HG_FADDEEVA_IM, {0, 0.25, 0.0}, 0x8a8ff3add2ba49ap-61L, -0xae870bcd363428bp-122L},
    {HG_FADDEEVA_RE, {0, 1.125, 0.001}, 0x908452e53d89dc6p-61L, -0xa9ff6a822b55c9fp-124L},
    {HG_FADDEEVA_IM, {0, 1.125, 0.001}, 0x96a3c86ad6aed3fp-60L, -0xe1f4499a1d3a90fp-122L},
    {HG_FADDEEVA_RE, {0, 3.0, 0.0625}, 0xa48b705001fecf4p-67L, -0x82c198d51597e9fp-129L},
    {HG_FADDEEVA_IM, {0, 3.0, 0.0625}, 0xcdccf40e3975b9ep-62L, -0xd3d089c8eb48e5bp-124L},
    {HG_FADDEEVA_RE, {0, 5.5, 2.0}, 0x8c31be59833e19ap-64L, 0xc6b8bbdd2394d55p-126L},
    {HG_FADDEEVA_IM, {0, 5.5, 2.0}, 0xbaf63e18acf39ccp-63L, -0xa1d92f7bdd3abdap-124L},
    {HG_FADDEEVA_RE, {0, 0.5, 9.0}, 0xfe7342cd1e32414p-64L, 0xb8d02ac72aaa893p-130L},
    {HG_FADDEEVA_IM, {0, 0.5, 9.0}, 0xdf79d1b7bc104ccp-68L, -0x928a2f8304469b7p-133L},
    {HG_FADDEEVA_RE, {0, 40.0, 0.001}, 0xbd7d0598f00ff1ap-81L, -0x8c5eb37527fc85ap-143L},
    {HG_FADDEEVA_IM, {0, 40.0, 0.001}, 0xe72a1203400091ep-66L, -0xdf7c2d34e33c0e4p-127L},
    {HG_FADDEEVA_RE, {0, -2.0, 0.75}, 0x8162a3e25059960p-62L, 0x88eeefe50797456p-123L},
    {HG_FADDEEVA_IM, {0, -2.0, 0.75}, -0x815f0eb2abfbe1cp-61L, -0xd784e22512dae9ep-124L},
    {HG_FADDEEVA_RE, {0, 1.5, -1.25}, -0x84438e075ead98ep-59L, 0xb48c5d8bce10324p-122L},
    {HG_FADDEEVA_IM, {0, 1.5, -1.25}, -0xc2695b0809378c7p-61L, -0xa4c528d39e326eep-122L},
    {HG_FADDEEVA_RE, {0, 200.0, 300.0}, 0xaaa71a47b8f3869p-69L, 0xdc8c1c23d88e88bp-130L},
    {HG_FADDEEVA_IM, {0, 200.0, 300.0}, 0xe38905ab03b67acp-70L, -0xffabf981953c148p-131L},
    {HG_FADDEEVA_RE, {1, 0.0, 0.5}, 0x0p-60L, 0},
    {HG_FADDEEVA_IM, {1, 0.0, 0.5}, 0x833f931f642f3acp-60L, 0xad2284e2eb1e4ebp-121L},
    {HG_FADDEEVA_RE, {1, 0.25, 0.0}, -0xf07d5fde38151e7p-61L, -0xbc63fc0c126b175p-123L},
    {HG_FADDEEVA_IM, {1, 0.25, 0.0}, 0xfe397818b5083ebp-60L, 0x8816e593288cbb0p-121L},
    {HG_FADDEEVA_RE, {1, 1.125, 0.001}, -0xa247bc99bee9d90p-60L, -0xd87b0da97ac06d4p-121L},
    {HG_FADDEEVA_IM, {1, 1.125, 0.001}, -0xc8e033ed3462496p-62L, -0xcb350611b2e0122p-126L},
    {HG_FADDEEVA_RE, {1, 3.0, 0.0625}, -0xa410d1a72621f40p-67L, -0xfae24894ae506d3p-131L},
    {HG_FADDEEVA_IM, {1, 3.0, 0.0625}, -0x9ff8df6a03d22b2p-63L, 0xb0f114d30c880dbp-128L},
    {HG_FADDEEVA_RE, {1, 5.5, 2.0}, -0xb9c4f44cf038d0bp-66L, 0xb0f9eb8349ddf62p-127L},
    {HG_FADDEEVA_IM, {1, 5.5, 2.0}, -0xd063fd0939eb33cp-66L, 0x8a2b1ba1af76b9fp-127L},
    {HG_FADDEEVA_RE, {1, 0.5, 9.0}, -0xc28db79aa7faba2p-70L, -0xa1c56b7d1259c41p-136L},
    {HG_FADDEEVA_IM, {1, 0.5, 9.0}, 0xde2805d8011bb2fp-67L, 0xff7ce0e957fb340p-128L},
    {HG_FADDEEVA_RE, {1, 40.0, 0.001}, -0x97bbadd736d5f95p-85L, -0xb01efc70867b103p-146L},
    {HG_FADDEEVA_IM, {1, 40.0, 0.001}, -0xb90c177376ca866p-71L, -0xf5ce92a8bda68afp-134L},
    {HG_FADDEEVA_RE, {1, -2.0, 0.75}, 0x816d63713d72b2dp-62L, -0xfbcfd40f5f8e338p-124L},
    {HG_FADDEEVA_IM, {1, -2.0, 0.75}, -0x932d2eb06314555p-63L, -0xa9ba1a24519f8adp-127L},
    {HG_FADDEEVA_RE, {1, 1.5, -1.25}, 0x819320bec872e0ap-57L, -0xd81b832925eb281p-118L},
    {HG_FADDEEVA_IM, {1, 1.5, -1.25}, -0xa1ac912943b3b12p-61L, 0xd5315330277e57ep-123L},
    {HG_FADDEEVA_RE, {1, 200.0, 300.0}, -0x866ba8a2aa7c21cp-77L, -0xe8b7ba823b562a6p-139L},
    {HG_FADDEEVA_IM, {1, 200.0, 300.0}, 0xe00a7c313b91780p-79L, 0xf8e3bc210553045p-140L},
    {HG_FADDEEVA_RE, {2, 0.0, 0.5}, -0xb7fc30aa26dff1ep-60L, -0xb182b696f4a4757p-121L},
    {HG_FADDEEVA_RE, {2, 0.25, 0.0}, -0xd26db3e271127aap-59L, -0x926bbe45480eda3p-120L},
    {HG_FADDEEVA_IM, {2, 0.25, 0.0}, -0x84d657dd169f348p-59L, 0xb53dcc81d0f6e59p-120L},
    {HG_FADDEEVA_RE, {2, 1.125, 0.001}, 0xdc835f2868b1d0cp-60L, 0x86175b1cb06dbb2p-121L},
    {HG_FADDEEVA_IM, {2, 1.125, 0.001}, -0xbbf65d3b9711ef1p-60L, 0xf78cd41d1cf89c8p-121L},
    {HG_FADDEEVA_RE, {2, 3.0, 0.0625}, 0xa7ae253b6c94e1ap-66L, 0xaa84b8ef7cf29ecp-127L},
    {HG_FADDEEVA_IM, {2, 3.0, 0.0625}, 0x89e98de67f625f3p-63L, 0xcb0ac8a9ae14b4dp-125L},
    {HG_FADDEEVA_RE, {2, 5.5, 2.0}, 0xb0b130baa1a6b69p-67L, 0xe618c0dc05fbfd8p-128L},
    {HG_FADDEEVA_IM, {2, 5.5, 2.0}, 0xafef3c39bb12c03p-68L, -0xb177320eef2fe04p-130L},
    {HG_FADDEEVA_RE, {2, 0.5, 9.0}, -0xc04832b9e8c89d4p-69L, 0xd80c0380bb35e9dp-131L},
    {HG_FADDEEVA_IM, {2, 0.5, 9.0}, -0xfc5f4e7866fb9dfp-72L, 0xa17473b47270b02p-133L},
    {HG_FADDEEVA_RE, {2, 40.0, 0.001}, 0xb64ed84902a88fbp-89L, -0xa425a4eeac33a25p-150L},
    {HG_FADDEEVA_IM, {2, 40.0, 0.001}, 0x942d47bdf0057a2p-75L, -0x8ee937ab2314f39p-141L},
    {HG_FADDEEVA_RE, {2, -2.0, 0.75}, 0x948e62fc0ac85f3p-62L, -0x9966fa5c35f1e6dp-123L},
    {HG_FADDEEVA_IM, {2, -2.0, 0.75}, 0xe7ee42006cd681ap-65L, -0xb06e2ac3cf12915p-126L},
    {HG_FADDEEVA_RE, {2, 1.5, -1.25}, -0x94aa52451bb6e0dp-56L, -0xff736e5ae58b366p-117L},
    {HG_FADDEEVA_IM, {2, 1.5, -1.25}, 0xbd46ac3ad97bea2p-56L, 0xc8ae7ace228d22bp-119L},
    {HG_FADDEEVA_RE, {2, 200.0, 300.0}, 0x9ece45888fa1d1ap-87L, -0xf95a668c6eefa66p-148L},
    {HG_FADDEEVA_IM, {2, 200.0, 300.0}, -0xcaf0ff685e7886bp-85L, 0xa52a99614118071p-147L},
    {HG_BESSEL_Y, {0, 0.03125}, -0x91e27adf4978bc3p-58L, 0x8c389b355974f52p-121L},
    {HG_SPHERICAL_Y, {0, 0.03125}, -0xffe000aaa93e959p-55L, 0xd5124b626d6d721p-116L},
    {HG_BESSEL_I, {0, 0.03125}, 0x800800200038e3cp-59L, 0xe392c5fb3230f3fp-120L},
    {HG_BESSEL_K, {0, 0.03125}, 0xe54c5decca153f7p-58L, 0xb8324d789a6bf59p-119L},
    {HG_BESSEL_Y, {0, 1.5}, 0xc3d05868341b3e6p-61L, 0xaa32151002ff7e9p-123L},
    {HG_SPHERICAL_Y, {0, 1.5}, -0xc128e352ea66f83p-64L, 0xbc2431a1080d30ap-125L},
    {HG_BESSEL_I, {0, 1.5}, 0xd2c7d352d1d6ce4p-59L, -0xacb441ee6708b8ap-120L},
    {HG_BESSEL_K, {0, 1.5}, 0xdaefd86d1894096p-62L, -0xc3bacddf9d8a51bp-123L},
    {HG_BESSEL_Y, {0, 5.25}, -0xab67ebf8df343ddp-61L, 0x8e46c72749e528ap-122L},
    {HG_SPHERICAL_Y, {0, 5.25}, -0xc7c31963d33d5cep-63L, -0xd8e60b2f08c4292p-124L},
    {HG_BESSEL_I, {0, 5.25}, 0x885277ef567ee46p-54L, -0xc798415d68d817cp-117L},
    {HG_BESSEL_K, {0, 5.25}, 0xb8098734da795e0p-68L, 0xbb7e5ed06518a1ep-129L},
    {HG_BESSEL_Y, {0, 31.0}, -0x890b6dcfffd1ab9p-62L, 0xd7d7ee63a6a43b4p-129L},
    {HG_SPHERICAL_Y, {0, 31.0}, -0xf1ba61284bae738p-65L, 0xe8f7a30b758b887p-126L},
    {HG_BESSEL_I, {0, 31.0}, 0xf34dc006edf3af9p-19L, 0xd23e01c83b0ef88p-82L},
    {HG_BESSEL_K, {0, 31.0}, 0x8b0ac1e37bb7434p-106L, -0xb4121adb111bf78p-170L},
    {HG_BESSEL_Y, {0, 75.5}, -0xee0a08719b3fea7p-64L, 0xcd39f86fc394f74p-125L},
    {HG_SPHERICAL_Y, {0, 75.5}, -0xd7e2382d563b9a9p-66L, -0xdd7855a128afc64p-127L},
    {HG_BESSEL_I, {0, 75.5}, 0xb2a46c7be0ba59ap+45L, -0xb5d524b0f7f8df5p-16L},
    {HG_BESSEL_K, {0, 75.5}, 0x9b7df7f0871dabfp-171L, -0xad0ee9cdec6a1cfp-232L},
    {HG_BESSEL_Y, {0, 3000.0}, 0xc9a8aa169dfdc5ep-66L, 0xc6d54b028edbd17p-128L},
    {HG_SPHERICAL_Y, {0, 3000.0}, 0xaa83485f6f94fa3p-71L, -0xaf2191dcd529cbbp-132L},
    {HG_BESSEL_I, {0, 500.0}, 0xba02b8c20a94775p+656L, -0xa6c6fd7f2505bc2p+595L},
    {HG_BESSEL_K, {0, 500.0}, 0xb463d3d7fece79ep-785L, 0xfab1f9555d497c6p-846L},
    {HG_BESSEL_Y, {1, 0.03125}, -0xa34ca705d78db1bp-55L, -0xf3d8911f6f153e2p-120L},
    {HG_SPHERICAL_Y, {1, 0.03125}, -0x800fff00038e333p-49L, -0xce19ada27047ac4p-111L},
    {HG_BESSEL_I, {1, 0.03125}, 0x8004000aaab8e3ap-65L, -0xcccc0a9e3dcd064p-126L},
    {HG_BESSEL_K, {1, 0.03125}, 0xff7d5e260c6b7e8p-55L, 0xcd516daedae80c2p-118L},
    {HG_BESSEL_Y, {1, 1.5}, -0xd31a1dc96c5877fp-61L, -0xce41da4547257e5p-124L},
    {HG_SPHERICAL_Y, {1, 1.5}, -0xb249975f0c0c845p-60L, 0xa470b923aeca393p-123L},
    {HG_BESSEL_I, {1, 1.5}, 0xfb4e7db652bf63ap-60L, 0xe46d9155680f7e0p-121L},
    {HG_BESSEL_K, {1, 1.5}, 0x8e05c6168b0469fp-61L, -0xa248ed24b44e3adp-123L},
    {HG_BESSEL_Y, {1, 5.25}, 0xfd61f5fc2400e3ap-64L, -0xcc8fb3b808c34f2p-127L},
    {HG_SPHERICAL_Y, {1, 5.25}, 0x94821720261c84cp-62L, -0xa85f86f0c59d0b7p-123L},
    {HG_BESSEL_I, {1, 5.25}, 0xf512b6ccbc2e9dep-55L, -0xf29415e7e509519p-118L},
    {HG_BESSEL_K, {1, 5.25}, 0xc8dabb07d4472b1p-68L, 0xd0c3c55793a36ecp-132L},
    {HG_BESSEL_Y, {1, 31.0}, -0xda9d77246d9f7ebp-64L, -0xc31a92d1ea17fdbp-127L},
    {HG_SPHERICAL_Y, {1, 31.0}, 0xc5f1ef184553bcbp-66L, -0x9a3f66ca7855360p-127L},
    {HG_BESSEL_I, {1, 31.0}, 0xef58c399cf48492p-19L, -0xca0ce2fdaa0f826p-81L},
    {HG_BESSEL_K, {1, 31.0}, 0x8d4460f59188740p-106L, -0xfeba785dea3a141p-167L},
    {HG_BESSEL_Y, {1, 75.5}, -0x9264e07896c2312p-63L, 0xc1db97bd5eac8a5p-124L},
    {HG_SPHERICAL_Y, {1, 75.5}, -0xc74260838b9591dp-69L, 0xa7686df455d34c9p-131L},
    {HG_BESSEL_I, {1, 75.5}, 0xb1748b29c3040a5p+45L, 0xe14ea7de1b9a31fp-19L},
    {HG_BESSEL_K, {1, 75.5}, 0x9c84b8fe2e7c35cp-171L, -0x928165c80c941cap-235L},
    {HG_BESSEL_Y, {1, 3000.0}, 0xff63f1d31ae93c2p-67L, 0x9f75029b74f9b5dp-129L},
    {HG_SPHERICAL_Y, {1, 3000.0}, -0x98ff5f4126c77e2p-73L, -0xf065c04395ae2c3p-134L},
    {HG_BESSEL_I, {1, 500.0}, 0xb9d31441fe963c7p+656L, 0xc0bbbe0ee9283bep+595L},
    {HG_BESSEL_K, {1, 500.0}, 0xb491fbfaf7bfa69p-785L, -0xc805a66b0bf8b92p-849L},
    {HG_BESSEL_Y, {2, 0.03125}, -0xa303b5c867e8f55p-49L, -0x989e204abb39050p-111L},
    {HG_SPHERICAL_Y, {2, 0.03125}, -0xc008007ffaaab8ep-43L, -0xdf0126bd14b9301p-105L},
    {HG_BESSEL_I, {2, 0.03125}, 0x8002aab00005b06p-72L, -0x97b3480102e8494p-135L},
    {HG_BESSEL_K, {2, 0.03125}, 0xfff0045502d0892p-49L, 0xaac1d249cc1ce41p-112L},
    {HG_BESSEL_Y, {2, 1.5}, -0xeea4400fb79def2p-60L, -0xf7977efa37461f6p-121L},
    {HG_SPHERICAL_Y, {2, 1.5}, -0xac40504474b94c9p-59L, 0xa6761977c6e4499p-121L},
    {HG_BESSEL_I, {2, 1.5}, 0xacf8a8ba6ab22f3p-61L, -0xd29516900dedba4p-123L},
    {HG_BESSEL_K, {2, 1.5}, 0x956a7a2a4d7d48fp-60L, 0x98f8fd7bdc83580p-121L},
    {HG_BESSEL_Y, {2, 5.25}, 0xb778c6ec7f650bbp-61L, -0xbcc06e5095b6511p-124L},
    {HG_SPHERICAL_Y, {2, 5.25}, 0xb8be2c31ff65d5cp-62L, -0xcf3147845a40cd7p-123L},
    {HG_BESSEL_I, {2, 5.25}, 0xb34879784cec068p-55L, 0xa6a2176bce2cd2dp-119L},
    {HG_BESSEL_K, {2, 5.25}, 0x8246ced8ded055bp-67L, 0xcc98ad091e38843p-131L},
    {HG_BESSEL_Y, {2, 31.0}, 0x8584c299bbfc846p-62L, -0x908bde4098d688bp-123L},
    {HG_SPHERICAL_Y, {2, 31.0}, 0xfb4e5814d32a3ebp-65L, -0xb69fddb228c9767p-126L},
    {HG_BESSEL_I, {2, 31.0}, 0xe3dcab264bef05bp-19L, 0xd05e4ea8a200e96p-83L},
    {HG_BESSEL_K, {2, 31.0}, 0x9427f16f3286428p-106L, -0xed22f048ab0e780p-167L},
    {HG_BESSEL_Y, {2, 75.5}, 0xe64880ca28745b2p-64L, -0xef0909d3ee09482p-125L},
    {HG_SPHERICAL_Y, {2, 75.5}, 0xd6e4db4ce538bdep-66L, 0x89f71c429d083f0p-127L},
    {HG_BESSEL_I, {2, 75.5}, 0xadf104c55e1ae0fp+45L, 0xad72a6325288500p-16L},
    {HG_BESSEL_K, {2, 75.5}, 0x9fa36441db6b8edp-171L, 0xb5ddecfd1b385b3p-233L},
    {HG_BESSEL_Y, {2, 3000.0}, -0xc992deffeef6b2bp-66L, 0xa730fa73e8d89e3p-127L},
    {HG_SPHERICAL_Y, {2, 3000.0}, -0xaa8d1315a8ffe83p-71L, -0xd64e12586ea670ap-132L},
    {HG_BESSEL_I, {2, 500.0}, 0xb9446ff912c710ap+656L, 0xcf3c5ad4c384582p+595L},
    {HG_BESSEL_K, {2, 500.0}, 0xb51cbb406c576f5p-785L, -0x98b0f28d0f7bd57p-848L},
    {HG_BESSEL_Y, {7, 0.03125}, -0xe53143fe9ccb8fbp-10L, 0x9d51fe4ad21e49ap-71L},
    {HG_SPHERICAL_Y, {7, 0.03125}, -0x83f904d9d882300p-2L, -0xa000ccce38ea0e8p-64L},
    {HG_BESSEL_I, {7, 0.03125}, 0xd00ea0eb807fe9ap-114L, 0xf4ed0df95d354b7p-175L},
    {HG_BESSEL_K, {7, 0.03125}, 0xb3fe2002fffc000p-9L, 0xaaa9999c7187adap-70L},
    {HG_BESSEL_Y, {7, 1.5}, -0xebecb47b112f1ccp-49L, -0xfc5f8176aa82869p-112L},
    {HG_SPHERICAL_Y, {7, 1.5}, -0xb3cb3332a612d1bp-47L, 0xe7029cbd9c8c396p-108L},
    {HG_BESSEL_I, {7, 1.5}, 0xee4a50f9b3fb2cdp-75L, 0xf9c2da3315a8909p-137L},
    {HG_BESSEL_K, {7, 1.5}, 0x999b34e03ffdabfp-48L, -0xd93def5676f4b66p-109L},
    {HG_BESSEL_Y, {7, 5.25}, -0x84f4d5a0ecc799dp-59L, -0xebf8abc7215549fp-120L},
    {HG_SPHERICAL_Y, {7, 5.25}, -0xcaf2fca8310877dp-60L, -0xb1c26159b2aaba4p-121L},
    {HG_BESSEL_I, {7, 5.25}, 0xc6eeca15622cad5p-61L, 0x93040659e0ef1b5p-122L},
    {HG_BESSEL_K, {7, 5.25}, 0x9668618733c74e7p-62L, -0xa8971417d7032b4p-127L},
    {HG_BESSEL_Y, {7, 31.0}, 0x88378b7bb88a033p-62L, 0xd4093b10d111dc6p-123L},
    {HG_SPHERICAL_Y, {7, 31.0}, 0xfd1500be37f4e68p-66L, -0xe26e83e18e0b753p-127L},
    {HG_BESSEL_I, {7, 31.0}, 0xdaabf1501c084f3p-20L, -0x8c6ccac0039498cp-81L},
    {HG_BESSEL_K, {7, 31.0}, 0x96e610fd0b4a306p-105L, 0xb052cc662c498e5p-166L},
    {HG_BESSEL_Y, {7, 75.5}, 0xb058532762bee3bp-63L, 0xd19026b0e2e8704p-124L},
    {HG_SPHERICAL_Y, {7, 75.5}, 0xc62bf8cd702d0a5p-67L, 0xc75ea26382c579ep-129L},
    {HG_BESSEL_I, {7, 75.5}, 0x80e34c7a3a338c1p+45L, -0xaf3c8f7fbfac818p-17L},
    {HG_BESSEL_K, {7, 75.5}, 0xd698850c3436abbp-171L, -0xfc8df11f8cdfa60p-232L},
    {HG_BESSEL_Y, {7, 3000.0}, -0x814deb7d6e37b66p-66L, -0xfed90132c88ea99p-130L},
    {HG_SPHERICAL_Y, {7, 3000.0}, 0x92da4c7f28df50fp-73L, -0x8a1b2612971ed91p-136L},
    {HG_BESSEL_I, {7, 500.0}, 0xb11b754dffbd5d9p+656L, 0xc5ee158a6b222ecp+595L},
    {HG_BESSEL_K, {7, 500.0}, 0xbd7095b612d0b8ap-785L, -0xe9a6a286ffb4289p-846L},
    {HG_BESSEL_Y, {30, 0.03125}, -0x8e17d5dfcf94bf5p+222L, -0xf30b93c9cee2457p+161L},
    {HG_SPHERICAL_Y, {30, 0.03125}, -0xabb71f5d3d06790p+230L, 0xe718dd71e3a0590p+168L},
    {HG_BESSEL_I, {30, 0.03125}, 0x9c99b3559e83591p-347L, -0xe612f2cb0a5d17cp-408L},
    {HG_BESSEL_K, {30, 0.03125}, 0xdf32110fa9223bap+222L, -0xeb10965a3b8a6dbp+161L},
    {HG_BESSEL_Y, {30, 1.5}, -0xc60f87fe200b2c1p+54L, -0x818abfed0bab272p-7L},
    {HG_SPHERICAL_Y, {30, 1.5}, -0x9f83b60f08d1749p+57L, 0xeaf28bd9bae3b5ep-4L},
    {HG_BESSEL_I, {30, 1.5}, 0xe94a235f700af71p-180L, 0xfba34138513d3e7p-242L},
    {HG_BESSEL_K, {30, 1.5}, 0x95a33428d6e585dp+55L, 0xcc33c28efde7c1fp-11L},
    {HG_BESSEL_Y, {30, 5.25}, -0xd3a237b64bd90efp+0L, 0xfe1bb74ef0d5655p-61L},
    {HG_SPHERICAL_Y, {30, 5.25}, -0xc210f3b5b4c6657p+1L, 0xa615e04e6b93b9bp-64L},
    {HG_BESSEL_I, {30, 5.25}, 0xa6934a83e0cca05p-125L, -0xb725cc816733be0p-186L},
    {HG_BESSEL_K, {30, 5.25}, 0xceaf97be021474fp+0L, 0xa06b17fd85ae6f4p-62L},
    {HG_BESSEL_Y, {30, 31.0}, -0xb11c3aad2384a69p-62L, 0xf4a7bde16e32b54p-126L},
    {HG_SPHERICAL_Y, {30, 31.0}, -0xc24d355b9631c91p-64L, 0x847c39e74a0a75dp-125L},
    {HG_BESSEL_I, {30, 31.0}, 0x840fb7847e3674fp-38L, 0xdecb0ed9995bebep-99L},
    {HG_BESSEL_K, {30, 31.0}, 0xb80c1cfe2cf9db8p-87L, 0xa8249cd47c110fbp-148L},
    {HG_BESSEL_Y, {30, 75.5}, 0x9cf3c6dabddf529p-63L, 0xfb9a5f5458df608p-124L},
    {HG_SPHERICAL_Y, {30, 75.5}, 0xe267968f105f895p-66L, -0xf3ffd34cece5accp-127L},
    {HG_BESSEL_I, {30, 75.5}, 0xf500a2d094f6c76p+36L, 0x95c168ee4250754p-25L},
    {HG_BESSEL_K, {30, 75.5}, 0xd2b907f5d16ba2fp-163L, -0xcf0a7a593b6fa3cp-226L},
    {HG_BESSEL_Y, {30, 3000.0}, -0xb4523ca7b0f28f1p-66L, 0x8abd851af478a2fp-128L},
    {HG_SPHERICAL_Y, {30, 3000.0}, -0xae630a3555da694p-71L, -0xf29119071b27da9p-132L},
    {HG_BESSEL_I, {30, 500.0}, 0x97283e9bf488a3cp+655L, 0xb319d1ea4625de5p+594L},
    {HG_BESSEL_K, {30, 500.0}, 0xdd95d575d15d4e0p-784L, -0xcccee2c818bf2ebp-852L},
    {HG_GAMMA_P, {0, 0.125, 0.03125}, 0xafa839f739b77f0p-60L, -0xde7e45e2c220646p-121L},
    {HG_GAMMA_Q, {0, 0.125, 0.03125}, 0xa0af8c118c91021p-61L, -0x8606e874f77e6e8p-123L},
    {HG_GAMMA_P, {0, 0.125, 3.0}, 0xff7a1b7b835a01fp-60L, -0xf49d978f486c6e3p-121L},
    {HG_GAMMA_Q, {0, 0.125, 3.0}, 0x85e4847ca5fe17ap-68L, 0x9d978f486c6e37ep-129L},
    {HG_GAMMA_P, {0, 0.5, 1.25}, 0xe2daf8114a6d85dp-60L, -0xf68e0989329877cp-126L},
    {HG_GAMMA_Q, {0, 0.5, 1.25}, 0xe9283f75ac93d18p-63L, 0xf68e0989329877cp-126L},
    {HG_GAMMA_P, {0, 1.0, 2.0}, 0xdd5aaab880fc68cp-60L, 0x9224547b4bf5aa4p-125L},
    {HG_GAMMA_Q, {0, 1.0, 2.0}, 0x8a95551dfc0e5d0p-62L, -0x9224547b4bf5aa4p-125L},
    {HG_GAMMA_P, {0, 2.5, 0.75}, 0xb20873fc894a5b7p-63L, 0xd4b3321e7ea0c17p-130L},
    {HG_GAMMA_Q, {0, 2.5, 0.75}, 0xe9bef1806ed6b49p-60L, 0xfe56999bc302be8p-123L},
    {HG_GAMMA_P, {0, 2.5, 30.0}, 0xfffffffff2a2cafp-60L, 0xff43e59facd9872p-123L},
    {HG_GAMMA_Q, {0, 2.5, 30.0}, 0xd5d350e017834c1p-96L, -0xb3661c6b877f944p-157L},
    {HG_GAMMA_P, {0, 17.25, 9.5}, 0xf5d0be4a1a10608p-66L, 0xba9acd090e77cf8p-128L},
    {HG_GAMMA_Q, {0, 17.25, 9.5}, 0xfc28bd06d797be8p-60L, -0x82ea6b342439df4p-122L},
    {HG_GAMMA_P, {0, 17.25, 40.0}, 0xfffed4bf7c8cb60p-60L, 0xf06acc603d82885p-122L},
    {HG_GAMMA_Q, {0, 17.25, 40.0}, 0x95a041b9a4fe1f3p-75L, -0xb3180f60a21388cp-136L},
    {HG_GAMMA_P, {0, 120.5, 121.0}, 0x87bd225e61ccc06p-60L, 0xe10cc2cae0e25bcp-123L},
    {HG_GAMMA_Q, {0, 120.5, 121.0}, 0xf085bb433c667f4p-61L, -0xe10cc2cae0e25bcp-123L},
    {HG_GAMMA_P, {0, 120.5, 150.0}, 0xfe848acb3e4a4b8p-60L, -0xc062ab6245eb00dp-121L},
    {HG_GAMMA_Q, {0, 120.5, 150.0}, 0xbdba9a60dada430p-67L, 0xc556c48bd601af0p-130L},
    {HG_GAMMA_P, {0, 1000.0, 900.0}, 0x902750fd2971bb3p-70L, 0xbc9e9d5fb7dc489p-131L},
    {HG_GAMMA_Q, {0, 1000.0, 900.0}, 0xffdbf62bc0b5a39p-60L, 0x99436162a04823bp-123L},
    {HG_GAMMA_P, {0, 1000.0, 1100.0}, 0xffba938144bb00dp-60L, 0xfb63bc253bd311ep-121L},
    {HG_GAMMA_Q, {0, 1000.0, 1100.0}, 0x8ad8fd7689fe505p-69L, -0xc7784a77a623c72p-130L},
};

static int wide_long_double(void)
{
    return LDBL_MANT_DIG >= 64;
}

static void test_functions_have_115_bits(void **state)
{
    (void)state;
    if (!wide_long_double())
        skip();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct row *r = &rows[k];
        struct hg_ext y = hg_ext_function(r->f, hg_ext(r->x));
        struct hg_ext d = hg_ext_sub(hg_ext_sub(y, hg_ext(r->high)), hg_ext(r->low));
        long double scale = fabsl(r->high), bound = 0x1p-115L;
        if (r->f == HG_SIN || r->f == HG_COS || r->f == HG_TAN || r->f == HG_SINC)
            scale += fabsl((long double)r->x) * (r->f == HG_TAN ? r->high * r->high : 1);
        if (r->f == HG_ERFC || r->f == HG_ERFCX)
            bound = 0x1p-90L;
        if (r->f == HG_DERFCX || r->f == HG_D2ERFCX)
            bound = 0x1p-80L;
        if (r->f == HG_ERFI)
            bound = 0x1p-100L;
        if (r->f == HG_GAMMA)
            bound = 0x1p-108L; /* of the exponential of a logarithm as large as 600 */
        if (!(fabsl(d.hi) <= bound * scale))
            fail_msg("%s(%.17g) is %.25Lg, error %.3Lg of %.3Lg", hg_op_text[r->f], r->x, y.hi, d.hi,
                     bound * scale);
    }
}

static void test_functions_of_an_order_have_90_bits(void **state)
{
    (void)state;
    if (!wide_long_double())
        skip();
    for (size_t k = 0; k < sizeof rows_of_order / sizeof *rows_of_order; k++) {
        const struct row_of_order *r = &rows_of_order[k];
        struct hg_ext x[3] = {hg_ext(r->x[0]), hg_ext(r->x[1]), hg_ext(r->x[2])}, y = hg_many_value(r->f, x);
        struct hg_ext d = hg_ext_sub(hg_ext_sub(y, hg_ext(r->high)), hg_ext(r->low));
        if (!(fabsl(d.hi) <= 0x1p-90L * fabsl(r->high)))
            fail_msg("%s(%g, %.17g, %g) is %.25Lg, not %.25Lg, error %.3Lg", hg_op_text[r->f], r->x[0], r->x[1],
                     r->x[2], y.hi, r->high, d.hi);
    }
}

/* J_(n+1) Y_n - J_n Y_(n+1) = 2/(pi x),  I_n K_(n+1) + I_(n+1) K_n = 1/x (Abramowitz & Stegun 1965, 9.1.16, 9.6.15),
 * times x, and the same values when they are asked for again behind others. */
static void test_bessel_functions_keep_wronskians(void **state)
{
    enum { PLACES = 1000 };
    static struct hg_ext seen[PLACES];
    (void)state;
    if (!wide_long_double())
        skip();
    const struct hg_ext two_over_pi = hg_ext_div(hg_ext(0.5L), hg_ext_function(HG_ATAN, hg_ext(1)));
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < PLACES; k++) {
            const struct hg_ext x = hg_ext(exp2(-6 + fmod(k * 0.6180339887, 1) * 14)), one = hg_ext(1);
            const int n = k % 7 ? k % 7 - 1 : 40, modified = k % 2;
            struct hg_ext f[4], sum;
            for (int m = 0; m < 2; m++) {
                f[m] = modified ? hg_ext_bessel_i(n + m, x) : hg_ext_bessel_j(n + m, x);
                f[2 + m] = modified ? hg_ext_bessel_k(n + m, x) : hg_ext_bessel_y(n + m, x);
            }
            const struct hg_ext p = hg_ext_mul(f[1], f[2]), q = hg_ext_mul(f[0], f[3]);
            sum = hg_ext_mul(modified ? hg_ext_add(q, p) : hg_ext_sub(p, q), x);
            const struct hg_ext d = hg_ext_sub(sum, modified ? one : two_over_pi);
            const long double size = 1 + fabsl(p.hi) * x.hi + fabsl(q.hi) * x.hi;
            if (!(fabsl(d.hi) <= 0x1p-95L * size))
                fail_msg("n %d, x %.17Lg: off by %.3Lg", n, x.hi, d.hi);
            if (pass)
                assert_true(sum.hi == seen[k].hi && sum.lo == seen[k].lo);
            seen[k] = sum;
        }
}

static void test_arithmetic_keeps_its_laws(void **state)
{
    (void)state;
    if (!wide_long_double())
        skip();
    struct hg_ext third = hg_ext_div(hg_ext(1), hg_ext(3)), seventh = hg_ext_div(hg_ext(1), hg_ext(7));
    struct hg_ext p = hg_ext_mul(third, hg_ext(3)), q = hg_ext_div(hg_ext_mul(third, seventh), seventh);
    assert_true(fabsl(hg_ext_sub(p, hg_ext(1)).hi) < 0x1p-124L);
    assert_true(fabsl(hg_ext_sub(q, third).hi) < 0x1p-124L);
    struct hg_ext tiny = hg_ext_add(hg_ext(1), hg_ext(0x1p-100L));
    assert_true(hg_ext_sub(tiny, hg_ext(1)).hi == 0x1p-100L); /* exact */
}

static void test_powers_agree_with_exponentials(void **state)
{
    static const double base[] = {1e-3, 0.75, 1.25, 17, 1e9}, exponent[] = {-40, -2, -0.5, 0.3, 0.5, 3, 21};
    (void)state;
    if (!wide_long_double())
        skip();
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 7; b++) {
            struct hg_ext x = hg_ext(base[a]), n = hg_ext(exponent[b]), y = hg_ext_pow(x, n);
            struct hg_ext z = hg_ext_function(HG_EXP, hg_ext_mul(n, hg_ext_function(HG_LOG, x)));
            assert_true(fabsl(hg_ext_sub(y, z).hi) <= fabsl(y.hi) * 0x1p-112L);
        }
    assert_true(hg_ext_pow(hg_ext(-2), hg_ext(3)).hi == -8);
    assert_true(isnan(hg_ext_pow(hg_ext(-2), hg_ext(0.3L)).hi));
    assert_true(hg_ext_pow(hg_ext(0), hg_ext(0.3L)).hi == 0);
}

static void test_exceptions_are_those_of_the_c_library(void **state)
{
    (void)state;
    assert_true(isinf(hg_ext_function(HG_EXP, hg_ext(1e6L)).hi));
    assert_true(hg_ext_function(HG_EXP, hg_ext(-1e6L)).hi == 0);
    assert_true(isnan(hg_ext_function(HG_LOG, hg_ext(-1)).hi));
    assert_true(hg_ext_function(HG_LOG, hg_ext(0)).hi == -HUGE_VALL);
    assert_true(isnan(hg_ext_function(HG_SIN, hg_ext(HUGE_VALL)).hi));
    assert_true(isinf(hg_ext_div(hg_ext(1), hg_ext(0)).hi));
    assert_true(hg_ext_function(HG_SINC, hg_ext(0)).hi == 1);
    assert_true(hg_ext_function(HG_D2SINC, hg_ext(0)).hi == -1.0L / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_have_115_bits),
        cmocka_unit_test(test_functions_of_an_order_have_90_bits),
        cmocka_unit_test(test_bessel_functions_keep_wronskians),
        cmocka_unit_test(test_arithmetic_keeps_its_laws),
        cmocka_unit_test(test_powers_agree_with_exponentials),
        cmocka_unit_test(test_exceptions_are_those_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
