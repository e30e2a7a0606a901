/* fit/vmath_coefficients.h -- polynomials, made by build-aux/approximations.py; lowest power first.
 * Part of fit/vmath.h. */

/* (1 + 2 x)^1 exp(x^2) i^0 erfc(x), q = (x - 4)/(x + 4); left out: 1.6e-18 */
FIT_COEFFICIENTS fit_erfcx_0[26] FIT_UNUSED = {
    0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd6c2p-7, 0x1.16ecefcfa5342p-4, -0x1.9ddb23c3e8a22p-4,
    0x1.7fee004e1312cp-4, -0x1.0fb06dfe5229fp-4, 0x1.3079edf66992fp-5, -0x1.0962388397d97p-6, 0x1.49c6728d8f7d4p-8,
    -0x1.8d4a9b00c7997p-11, -0x1.a1df2abbaddf5p-13, 0x1.3be04bf52bb5ap-13, -0x1.9958ab3ba5c33p-16,
    -0x1.78861f18ee7b4p-17, 0x1.7f2369c34c9ffp-18, 0x1.3981051d34c77p-22, -0x1.bae01eb0d8ac7p-21,
    0x1.4cbb15f961e46p-24, 0x1.d8dd577cdf1c6p-24, -0x1.613ab11aa87fdp-26, -0x1.f96a93e7cc6f0p-27,
    0x1.b39ff8659b236p-29, 0x1.ec1f75354e746p-30, -0x1.246d137a7141bp-32, -0x1.2e4a1567a7226p-33};

/* (1 + 1 x)^2 exp(x^2) i^1 erfc(x), q = (x - 3)/(x + 3); left out: 2.0e-18 */
FIT_COEFFICIENTS fit_erfcx_1[29] FIT_UNUSED = {
    0x1.bd6ae4d14b16fp-2, -0x1.c27d370ace103p-3, 0x1.bc8985dd90802p-5, 0x1.be8bec422aac6p-5, -0x1.1c9c8348ad1adp-4,
    0x1.0d976e44bd556p-5, -0x1.b68ce677a388ap-14, -0x1.1f8c17d127841p-7, 0x1.118f448d026ebp-8, 0x1.98f9783e1af55p-13,
    -0x1.a4139f9e13109p-11, 0x1.aef5985d7468ep-14, 0x1.218791a4ade47p-13, -0x1.d95865c5564edp-16,
    -0x1.bfc7a3e6469eep-16, 0x1.5208ed96c1ab2p-18, 0x1.87e36937de47fp-18, -0x1.123abda481e0dp-21,
    -0x1.6695cb1b7b392p-20, -0x1.840396aff44fep-24, 0x1.35e85f8161e28p-22, 0x1.3f4035540382cp-24,
    -0x1.c2d7bb8ab8a1cp-25, -0x1.b5ff003a227bfp-26, 0x1.d01bc3fed05b9p-28, 0x1.6a169ce36d5c6p-28,
    -0x1.b1f228d05096bp-32, -0x1.20e40e42d445ep-31, -0x1.07abf1be360e2p-36};

/* (1 + 1 x)^3 exp(x^2) i^2 erfc(x), q = (x - 3)/(x + 3); left out: 7.1e-18 */
FIT_COEFFICIENTS fit_erfcx_2[30] FIT_UNUSED = {
    0x1.043fe1a98c0cdp-2, -0x1.2bd48098c43edp-3, -0x1.34501243e6adep-7, 0x1.8a3d9b4664c77p-4, -0x1.25b0087b9a85ep-4,
    0x1.d1edf563b3d83p-8, 0x1.86aeb237c94d5p-6, -0x1.ef987f11fdc8bp-7, -0x1.1bea96c2037f9p-11, 0x1.1ddd5859b876cp-8,
    -0x1.2317291f9c550p-10, -0x1.a2835287192d3p-11, 0x1.7c01bff4cac89p-12, 0x1.46732d0bcc5e8p-13,
    -0x1.6f94926060a31p-14, -0x1.3de6c9e67b70fp-15, 0x1.356dbc61bebacp-16, 0x1.6b01bc684e14ap-17,
    -0x1.9fd609c5d8011p-19, -0x1.a845f99e4ebc9p-19, 0x1.bf998f4eaa007p-23, 0x1.c833208297092p-21,
    0x1.f6eff2bab5886p-24, -0x1.9de266f319022p-23, -0x1.03e754c84b8f0p-24, 0x1.1e3cb7ebe813ap-25,
    0x1.f0ae8fd015d33p-27, -0x1.009f163411fe6p-28, -0x1.a81c9d2baf25dp-30, 0x1.a02d5a7adbe86p-33};

/* integral of s^1 exp(s x) over s from 0 to 1, q = 0.8 x; left out: 1.5e-20 */
FIT_COEFFICIENTS fit_exprel_1[18] FIT_UNUSED = {
    0x1.0p-1, 0x1.aaaaaaaaaaaabp-2, 0x1.9000000000000p-3, 0x1.0aaaaaaaaaaabp-4, 0x1.15c71c71c71cbp-6,
    0x1.dc30c30c30c36p-9, 0x1.5b38e38e388d9p-11, 0x1.b8eac79006eb6p-14, 0x1.f008208276a74p-17, 0x1.f50acb8116cb4p-20,
    0x1.cb49e4e641d61p-23, 0x1.816ac3b736d7ep-26, 0x1.2a3d6a2e27fc5p-29, 0x1.ac3de680901f7p-33, 0x1.1eb4148aa7d1cp-36,
    0x1.67cb00b400080p-40, 0x1.b1b7277612e6cp-44, 0x1.e2e4bde5b1923p-48};

/* integral of s^2 exp(s x) over s from 0 to 1, q = 0.8 x; left out: 2.5e-20 */
FIT_COEFFICIENTS fit_exprel_2[18] FIT_UNUSED = {
    0x1.5555555555555p-2, 0x1.4000000000000p-2, 0x1.4000000000000p-3, 0x1.bc71c71c71c72p-5, 0x1.dc30c30c30c39p-7,
    0x1.a0aaaaaaaaaafp-9, 0x1.34a4587e6b230p-11, 0x1.8cd34d34d302dp-14, 0x1.c2f01d8de505cp-17, 0x1.cb49e5365818cp-20,
    0x1.a7f570d233c54p-23, 0x1.65e32371df828p-26, 0x1.165b74d0786c6p-29, 0x1.917a08cd192e5p-33, 0x1.0dd679cfc4163p-36,
    0x1.53cdc1867e965p-40, 0x1.9aeee3577d4b1p-44, 0x1.cacab5fdbbc69p-48};

/* J_0(x)/x^0, x < 8, q = x^2/32 - 1 */
FIT_COEFFICIENTS fit_bessel_0[18] FIT_UNUSED = {
    0x1.776fc5f84e280p-5, 0x1.dc5071f1209f4p-1, -0x1.4c042a76a3d9ap-1, -0x1.9dbdd0f268edep-1, 0x1.09d33c82734c7p+0,
    -0x1.03d2da095b4e5p-1, 0x1.2afc33916d950p-3, -0x1.d27f3cd0c2e4dp-6, 0x1.09f3448afe768p-8, -0x1.d11773b361daap-12,
    0x1.42bc90333e426p-15, -0x1.6cc5264a684bfp-19, 0x1.56a7a33167081p-23, -0x1.0ff8a9ab93d9ap-27,
    0x1.71d0a2052d9dcp-32, -0x1.b3bee53ee3284p-37, 0x1.c2c89ea282aaap-42, -0x1.9a167d709915cp-47};

/* P of J_0, x > 8, q = 2 (8/x)^2 - 1; left out: 1.4e-19 */
FIT_COEFFICIENTS fit_hankel_p0[15] FIT_UNUSED = {
    0x1.ffb8dd328503dp-1, -0x1.193600c1deb33p-11, 0x1.9be00160e8f86p-18, -0x1.b8d2d6f568b1dp-23,
    0x1.b7ef11b2390e8p-27, -0x1.4d2f3c6bcc8f1p-30, 0x1.54df52801ef41p-33, -0x1.b5bdbb22bf8c7p-36,
    0x1.4fd2122fa8599p-38, -0x1.2b66a98a8eadep-40, 0x1.2c79829f04f69p-42, -0x1.20fc72b9a06b6p-44,
    0x1.3f26a375894fcp-46, -0x1.a9240bf60d14bp-47, 0x1.42c754ac6b318p-48};

/* Q x/8 of J_0, x > 8, q = 2 (8/x)^2 - 1; left out: 2.5e-18 */
FIT_COEFFICIENTS fit_hankel_q0[16] FIT_UNUSED = {
    -0x1.fdb5c0b2f3d5bp-7, 0x1.1e9a6138fee30p-14, -0x1.8c8435284c2e2p-20, 0x1.3135a89ef0351p-24,
    -0x1.858d1b79c15abp-28, 0x1.61a55a33a65b0p-31, -0x1.a0835f5e8cc28p-34, 0x1.2ba6741e08da4p-36,
    -0x1.f905c8fb2d9f2p-39, 0x1.e40005821f051p-41, -0x1.07b105a41fb8ap-42, 0x1.39940138bbc23p-44,
    -0x1.27d49ee4c9805p-46, 0x1.51cdfedb5101dp-48, -0x1.6d757f20d1676p-48, 0x1.351cf3ac934b3p-49};

/* J_1(x)/x^1, x < 8, q = x^2/32 - 1 */
FIT_COEFFICIENTS fit_bessel_1[18] FIT_UNUSED = {
    -0x1.dc5071f1209f4p-5, 0x1.4c042a76a3d9ap-4, 0x1.364e5cb5ceb27p-3, -0x1.09d33c82734c7p-2, 0x1.44c7908bb221ep-3,
    -0x1.c07a4d5a245fdp-5, 0x1.982f5536aa883p-7, -0x1.09f3448afe526p-9, 0x1.059d3114e70f5p-12, -0x1.936bb4404efecp-16,
    0x1.f58f14a64570ep-20, -0x1.00fdba22b21dcp-23, 0x1.b9f413c37fba1p-28, -0x1.439726e5a9d29p-32,
    0x1.9882e6309407cp-37, -0x1.c153468a5a5c9p-42, 0x1.b3c9bd267e611p-47, -0x1.755818284e09fp-52};

/* P of J_1, x > 8, q = 2 (8/x)^2 - 1; left out: 1.5e-19 */
FIT_COEFFICIENTS fit_hankel_p1[15] FIT_UNUSED = {
    0x1.003b716033732p+0, 0x1.d73b8ea3c1248p-11, -0x1.0b1541bfc3fb3p-17, 0x1.07762640b132fp-22,
    -0x1.f96170c673974p-27, 0x1.75eb02dd757b9p-30, -0x1.78ba6f63a6a34p-33, 0x1.de943b9058a10p-36,
    -0x1.6c3412a0750d7p-38, 0x1.42a2120f95923p-40, -0x1.4222fa1a2c887p-42, 0x1.35262497b5421p-44,
    -0x1.548f9a1032731p-46, 0x1.c1ff43803bc35p-47, -0x1.54be5ea8470e1p-48};

/* Q x/8 of J_1, x > 8, q = 2 (8/x)^2 - 1; left out: 8.6e-19 */
FIT_COEFFICIENTS fit_hankel_q1[16] FIT_UNUSED = {
    0x1.7f323705062fbp-5, -0x1.938da0a0a6987p-14, 0x1.e8e009ca9282ep-20, -0x1.642312797de7ap-24,
    0x1.b9302a517457ap-28, -0x1.8922dc144ccdep-31, 0x1.c92e6248aa9afp-34, -0x1.45e3d5ca3099ep-36,
    0x1.10b60277006bfp-38, -0x1.03ed5dac7e845p-40, 0x1.19dbe8941e3f7p-42, -0x1.4dddde1854813p-44,
    0x1.3b2af8ab3c895p-46, -0x1.67a9c660f0f8fp-48, 0x1.811d207bb2e69p-48, -0x1.4508fb9daded8p-49};

/* Y_0 without 2/pi log(x) J_0, x < 8, q = x^2/32 - 1; left out: 1.5e-20 */
FIT_COEFFICIENTS fit_bessel_y0[19] FIT_UNUSED = {
    -0x1.876cb72f1c7ebp-2, -0x1.a828bfbfdc936p-1, 0x1.a5a81d661f788p+0, 0x1.272bb3b608b42p-3, -0x1.13da2b14a486ep+0,
    0x1.5827981135a27p-1, -0x1.c06cc647f6aa5p-3, 0x1.7bd6bf2ce921ap-5, -0x1.cc706012361fbp-8, 0x1.a6a8c6c9838dap-11,
    -0x1.31537c5ccd79bp-14, 0x1.651b8eda0095dp-18, -0x1.5995ab1ecb8eap-22, 0x1.1998aadbcc485p-26,
    -0x1.88011abf8ceb8p-31, 0x1.d7ca88247e650p-36, -0x1.effd0dadd5a5cp-41, 0x1.ccd0bf3d9ea0fp-46,
    -0x1.7b0306c77d8e6p-51};

/* K_0 without -log(x) I_0, x < 2, q = x^2/2 - 1; left out: 8.5e-21 */
FIT_COEFFICIENTS fit_bessel_k0[11] FIT_UNUSED = {
    0x1.9055e0acc3f54p-1, 0x1.8fff17f98db1cp-1, 0x1.f6ee0decfbda8p-4, 0x1.fda3752a9236cp-8, 0x1.16c5f67976de6p-12,
    0x1.7dc25d01b93ecp-18, 0x1.660d44c00a735p-24, 0x1.e8d5beb9fc715p-31, 0x1.fb888bfbc108fp-38, 0x1.9e4630c21dca3p-45,
    0x1.10ce9895e1054p-52};

/* sqrt(x) exp(x) K_0, x > 2, q = 4/x - 1; left out: 2.5e-19 */
FIT_COEFFICIENTS fit_bessel_k0_far[27] FIT_UNUSED = {
    0x1.37f5dd35f91a9p+0, -0x1.fd1328181db4ep-6, 0x1.8d86f6465d9eep-9, -0x1.f7130688e7fffp-12, 0x1.a19652e7f5edbp-14,
    -0x1.9efce52ef0542p-16, 0x1.d5e9a51ccbb9fp-18, -0x1.26183a360da9dp-19, 0x1.8ec858b335825p-21,
    -0x1.20c0d9abc9bc4p-22, 0x1.b9f2058bf64cep-24, -0x1.626d6d7295b2fp-25, 0x1.2818234ea3bcbp-26,
    -0x1.0310f00b892c8p-27, 0x1.d46af8d3fc39fp-29, -0x1.7b80d2764eddap-30, 0x1.4019e990b2162p-31,
    -0x1.5a9423f34d6dfp-31, 0x1.c242e90f27c97p-32, 0x1.08f8d38ae3de9p-32, -0x1.da7a644a6d935p-33,
    -0x1.321a41f3ba146p-32, 0x1.bf3378c06f60dp-33, 0x1.ef5bf227bfb29p-34, -0x1.647f0a170f74dp-34,
    -0x1.ff8ab6a08c2e2p-36, 0x1.53b8c05a2aa8ep-36};

/* sqrt(x) exp(-x) I_0, x > 8, q = 16/x - 1; left out: 1.4e-18 */
FIT_COEFFICIENTS fit_bessel_i0_far[27] FIT_UNUSED = {
    0x1.9bd428ad249a5p-2, 0x1.b87969bb93bc0p-9, 0x1.1daa72b5e65fcp-13, 0x1.75e5ee702007ep-17, 0x1.8e513a0ac9181p-20,
    0x1.3f49ad6d6f0a1p-22, 0x1.7d0fa25980c1ap-24, 0x1.51cbf2b8d32b7p-25, 0x1.7219c8ee56ad4p-26, 0x1.03e3a46a554fap-27,
    -0x1.cd0a7f75b5268p-28, -0x1.ce4513f876844p-27, -0x1.7eff15504675ap-28, 0x1.087d59e67c7aep-27,
    0x1.103d02e6bfeafp-27, -0x1.0693a8366885bp-28, -0x1.dcd81d0c61ce6p-28, 0x1.10973e09f287fp-29,
    0x1.56f1d3b1b3a43p-28, -0x1.1a39fc6f3bf77p-30, -0x1.8ab4cd3d4020ep-29, 0x1.e28f74bf3433bp-32,
    0x1.4b8dc5e843814p-30, -0x1.1153c28a5c5a9p-33, -0x1.60f60148f6515p-32, 0x1.24d48c789b293p-36,
    0x1.604db61ad3debp-35};

/* Y_1 without 2/pi log(x) J_1 and the pole, over x, x < 8, q = x^2/32 - 1; left out: 6.5e-22 */
FIT_COEFFICIENTS fit_bessel_y1[19] FIT_UNUSED = {
    0x1.21d516f81acf6p-4, -0x1.f26fddceafd0ep-3, 0x1.7edab31507d03p-6, 0x1.e16d7a1d07b70p-3, -0x1.923952d7c42a6p-3,
    0x1.41bb6917b15dbp-4, -0x1.4198f92a31f2bp-6, 0x1.c097bb98fdbc4p-9, -0x1.d1604f9ccacf4p-12, 0x1.76c164b8551ecp-15,
    -0x1.e35169de5c789p-19, 0x1.ff34fc77196b8p-23, -0x1.c3f1d8ed7edabp-27, 0x1.532f686d70cf2p-31,
    -0x1.b5d40eabfc6e2p-36, 0x1.eb63695336cb2p-41, -0x1.e4119f60de11cp-46, 0x1.a7116c73adf7ap-51,
    -0x1.48a4bd1852203p-56};

/* K_1 without +log(x) I_1 and the pole, over x, x < 2, q = x^2/2 - 1; left out: 1.3e-22 */
FIT_COEFFICIENTS fit_bessel_k1[11] FIT_UNUSED = {
    -0x1.fe2890c6da2a2p-2, -0x1.af79f608a8f1cp-3, -0x1.5f023344d577ap-6, -0x1.075f7adebb203p-10,
    -0x1.c9b0e44a4abb5p-16, -0x1.03f05a6034c3dp-21, -0x1.a0920d02edbaap-28, -0x1.f06e9508e08f1p-35,
    -0x1.c94c11f6a4897p-42, -0x1.4f70efe8cef15p-49, -0x1.9124cbccce231p-57};

/* sqrt(x) exp(x) K_1, x > 2, q = 4/x - 1; left out: 2.5e-19 */
FIT_COEFFICIENTS fit_bessel_k1_far[27] FIT_UNUSED = {
    0x1.5cf785b4a0203p+0, 0x1.a7520dfb3f9a2p-4, -0x1.6cd23ac7d419ap-8, 0x1.81bb397936ea3p-11, -0x1.24bdedb36c3cep-13,
    0x1.1383aa1fb67c1p-15, -0x1.2cb02cc4ead48p-17, 0x1.6e6b6f81f9577p-19, -0x1.e6caa6d4a6cf0p-21,
    0x1.5ad11e3b1872ep-22, -0x1.05ee4e61dd64fp-23, 0x1.9f8e0e8b8bb88p-25, -0x1.57f7aa821c9d2p-26,
    0x1.2a611e40985c5p-27, -0x1.0bbc9528601f6p-28, 0x1.b22c79d04c894p-30, -0x1.6e64af5bee819p-31,
    0x1.7f332a83f2ec9p-31, -0x1.ed9b2c0a1cd9ep-32, -0x1.1ad2bbd2aa82dp-32, 0x1.fc4436791610fp-33,
    0x1.4b91bf1e20ab6p-32, -0x1.e31eb99e99744p-33, -0x1.0b88c34261a06p-33, 0x1.8069b595bb4bfp-34,
    0x1.151fbdb6907c6p-35, -0x1.6f42d86927ef2p-36};

/* sqrt(x) exp(-x) I_1, x > 8, q = 16/x - 1; left out: 1.5e-18 */
FIT_COEFFICIENTS fit_bessel_i1_far[27] FIT_UNUSED = {
    0x1.8ebe783a84030p-2, -0x1.3f796198ee63ap-7, -0x1.cbc54df1ecf62p-13, -0x1.f89c2304b860ep-17,
    -0x1.ec8e1003fce04p-20, -0x1.761384ba8ebf9p-22, -0x1.ad8de57f3f4ffp-24, -0x1.7277b8802ae6ap-25,
    -0x1.91759fab32ad6p-26, -0x1.21de6538102d1p-27, 0x1.cc06c41e1855cp-28, 0x1.e3a948c415f47p-27,
    0x1.a69d58942c511p-28, -0x1.0b4539bc94915p-27, -0x1.20a8e052b5bb9p-27, 0x1.ff8b852ecf6dbp-29,
    0x1.f378468033ef8p-28, -0x1.0183064563578p-29, -0x1.657e73fb0c472p-28, 0x1.07047fc5cbf7ap-30,
    0x1.9ac4c401343a2p-29, -0x1.c15e6112d1143p-32, -0x1.58ea81b215aecp-30, 0x1.fef895f7b3a5dp-34,
    0x1.6f38e89af41c8p-32, -0x1.12e7f21d2c006p-36, -0x1.6ea1785f94461p-35};

/* erfinv(x)/x, w = -log(1 - x^2) < 6.25, q = w/3.125 - 1; left out: 2.4e-18 */
FIT_COEFFICIENTS fit_erfinv_0[26] FIT_UNUSED = {
    0x1.a755e7c99ae86p+0, 0x1.8040caa12786bp-1, -0x1.e2b19456a082dp-5, -0x1.7259eca3a0c2ep-6, 0x1.23c5aee6b8c35p-6,
    -0x1.0f249df1f9289p-8, -0x1.4d5dd2d288f3ap-10, 0x1.4316b4e53aac7p-10, -0x1.153ca239e8ef5p-12,
    -0x1.ea4476aaeb506p-14, 0x1.879c71f06bfb9p-14, -0x1.f83df5eef57f7p-17, -0x1.79bad0cd600e4p-17,
    0x1.de7660829fa75p-18, -0x1.6f30aa62f6e43p-21, -0x1.1c1e46dc35c91p-20, 0x1.21cc1c15dfb87p-21,
    -0x1.8b8b565203bfcp-27, -0x1.a96b17877ab97p-24, 0x1.5b9338793967ep-25, 0x1.5a5184d1fa912p-28,
    -0x1.42913ee182545p-27, 0x1.8d8098abcd5bap-30, 0x1.2617c16ce3629p-30, -0x1.1800dcbf7655ap-32,
    -0x1.a8c07635c1843p-35};

/* the same, 2.5 < sqrt w < 4, q = (sqrt(w) - 3.25)/0.75; left out: 1.6e-18 */
FIT_COEFFICIENTS fit_erfinv_1[21] FIT_UNUSED = {
    0x1.8abcc380d5a48p+1, 0x1.8204fa4162bffp-1, 0x1.8bfc9e26da7bap-9, -0x1.9eda88e4f2171p-10, 0x1.9d4ce38633f40p-11,
    -0x1.a418d38d88595p-12, 0x1.63d03711119adp-13, -0x1.8d8d2c9517b78p-15, 0x1.42e8e04d5de35p-19,
    0x1.5816a12ae9075p-18, -0x1.65a995d401276p-19, 0x1.1aa473894c01dp-21, 0x1.8ef6de7943b0ep-24,
    -0x1.96b0b242e6e7fp-24, 0x1.c5963bcb6d3a3p-26, -0x1.954e914918277p-32, -0x1.528c13ca4039fp-29,
    0x1.0fd4768dc9d9cp-30, -0x1.007570d08f0ffp-33, -0x1.1c6b809e24fb6p-34, 0x1.a7ee6cd2d0625p-36};

/* the same, 4 < sqrt w < 6.1, q = (sqrt(w) - 5.05)/1.05; left out: 1.3e-18 */
FIT_COEFFICIENTS fit_erfinv_2[20] FIT_UNUSED = {
    0x1.39a07f9e2524cp+2, 0x1.0f908a75bb763p+0, -0x1.88bb08f680b0cp-13, -0x1.e64cf2d25753bp-13, 0x1.6b3293f94276ap-14,
    -0x1.8971a212ef951p-16, 0x1.7929b2c4c17e1p-18, -0x1.569e55cfa9603p-20, 0x1.3fd9c94162b40p-22,
    -0x1.6e26a5c1d8029p-24, 0x1.314ecd1d7f93bp-25, -0x1.47d7c0ad244e4p-26, 0x1.666d0dd381d41p-27,
    -0x1.5dfd44b672072p-28, 0x1.1c96f7108245bp-29, -0x1.77f292a5b871bp-31, 0x1.799950dfa9f40p-33,
    0x1.acf27e03e35a3p-38, -0x1.4bfb75c01e9e9p-35, 0x1.bd8845c93f026p-37};

/* 2/sqrt(pi)/(k! (2 k + 1)): the power series of erfi(x)/x in x^2 */
FIT_COEFFICIENTS fit_erfi_series[34] FIT_UNUSED = {
    0x1.20dd750429b6dp+0, 0x1.812746b0379e7p-2, 0x1.ce2f21a042be2p-4, 0x1.b82ce31288b51p-6, 0x1.565bcd0e6a53fp-8,
    0x1.c02db40040b86p-11, 0x1.f9a326f9b89b7p-14, 0x1.f4d25c3e0c2ebp-17, 0x1.b9e6c9dc651a3p-20, 0x1.5f742ec43e71ap-23,
    0x1.fcc5720624c1cp-27, 0x1.51d7181c5d36dp-30, 0x1.9e6ad5e55a730p-34, 0x1.d8453cb0c46eap-38, 0x1.f683ae4a97007p-42,
    0x1.f56f071a885cfp-46, 0x1.d70b3537f4765p-50, 0x1.a2007af3447f6p-54, 0x1.5f7919bc67b8cp-58, 0x1.18cc8a061c479p-62,
    0x1.ab5cc31489f29p-67, 0x1.3676fc48c133cp-71, 0x1.af83c2fb19fa6p-76, 0x1.1f690c2b2753ap-80, 0x1.6f928977a0028p-85,
    0x1.c40abff27ce65p-90, 0x1.0baeaddb047b0p-94, 0x1.31b7776e54127p-99, 0x1.512193be51298p-104,
    0x1.67657a57148a3p-109, 0x1.72c97f9dd3b8dp-114, 0x1.7298e545013acp-119, 0x1.6731bac4d9ceap-124,
    0x1.51e98b3b1916bp-129};

/* nodes k times the step sqrt(pi/14) */
FIT_COEFFICIENTS fit_w_at_nodes[14] FIT_UNUSED = {
    0x0.0p+0, 0x1.e513c456c15f2p-2, 0x1.e513c456c15f2p-1, 0x1.6bced34111075p+0, 0x1.e513c456c15f2p+0,
    0x1.2f2c5ab638db7p+1, 0x1.6bced34111075p+1, 0x1.a8714bcbe9334p+1, 0x1.e513c456c15f2p+1, 0x1.10db1e70ccc58p+2,
    0x1.2f2c5ab638db7p+2, 0x1.4d7d96fba4f16p+2, 0x1.6bced34111075p+2, 0x1.8a200f867d1d4p+2};

/* weights there: 2 h/pi exp(-t^2), half of it at 0 */
FIT_COEFFICIENTS fit_w_of_nodes[14] FIT_UNUSED = {
    0x1.34cf4b82ff041p-3, 0x1.ed79b6362b142p-3, 0x1.f76b2306eaa91p-4, 0x1.47dae5b117344p-5, 0x1.109e13d3028c2p-7,
    0x1.216e4354690d7p-10, 0x1.885531c8336fap-14, 0x1.5382c8b98da18p-18, 0x1.771f1538f2bd6p-23, 0x1.0897edbacce8cp-28,
    0x1.dc94623fcfa8ap-35, 0x1.12000e81a8326p-41, 0x1.924498def248fp-49, 0x1.790628724fbabp-57};

/* nodes k + 1/2 times the step sqrt(pi/14) */
FIT_COEFFICIENTS fit_w_at_halves[14] FIT_UNUSED = {
    0x1.e513c456c15f2p-3, 0x1.6bced34111075p-1, 0x1.2f2c5ab638db7p+0, 0x1.a8714bcbe9334p+0, 0x1.10db1e70ccc58p+1,
    0x1.4d7d96fba4f16p+1, 0x1.8a200f867d1d4p+1, 0x1.c6c2881155493p+1, 0x1.01b2804e16ba8p+2, 0x1.2003bc9382d08p+2,
    0x1.3e54f8d8eee67p+2, 0x1.5ca6351e5afc6p+2, 0x1.7af77163c7125p+2, 0x1.9948ada933284p+2};

/* weights there: 2 h/pi exp(-t^2), half of it at 0 */
FIT_COEFFICIENTS fit_w_of_halves[14] FIT_UNUSED = {
    0x1.23f6691562d47p-2, 0x1.74c6471c03983p-3, 0x1.2fd8bbc807013p-4, 0x1.3c36e43feb1b6p-6, 0x1.a42c427d9f9cfp-9,
    0x1.646bd0f59b63bp-12, 0x1.8206fcbc833bdp-16, 0x1.0ae874b5c6804p-20, 0x1.d740d4a95a1c7p-26, 0x1.09962b8fac920p-31,
    0x1.7e36e3841cb61p-38, 0x1.5f274dd91add8p-45, 0x1.9be9e098ff22ap-53, 0x1.3476bf1051810p-61};

