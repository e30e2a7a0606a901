/* fit/vmath_coefficients.h -- polynomials, made by build-aux/approximations.py; lowest power first.
 * Part of fit/vmath.h. */

/* (1 + 2 x)^1 exp(x^2) i^0 erfc(x), q = (x - 4)/(x + 4); left out: 1.6e-18 */
static const double fit_erfcx_0[26] __attribute__((unused)) = {
    0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd6c2p-7, 0x1.16ecefcfa5342p-4, -0x1.9ddb23c3e8a22p-4,
    0x1.7fee004e1312cp-4, -0x1.0fb06dfe5229fp-4, 0x1.3079edf66992fp-5, -0x1.0962388397d97p-6, 0x1.49c6728d8f7d4p-8,
    -0x1.8d4a9b00c7997p-11, -0x1.a1df2abbaddf5p-13, 0x1.3be04bf52bb5ap-13, -0x1.9958ab3ba5c33p-16,
    -0x1.78861f18ee7b4p-17, 0x1.7f2369c34c9ffp-18, 0x1.3981051d34c77p-22, -0x1.bae01eb0d8ac7p-21,
    0x1.4cbb15f961e46p-24, 0x1.d8dd577cdf1c6p-24, -0x1.613ab11aa87fdp-26, -0x1.f96a93e7cc6f0p-27,
    0x1.b39ff8659b236p-29, 0x1.ec1f75354e746p-30, -0x1.246d137a7141bp-32, -0x1.2e4a1567a7226p-33};

/* (1 + 1 x)^2 exp(x^2) i^1 erfc(x), q = (x - 3)/(x + 3); left out: 2.0e-18 */
static const double fit_erfcx_1[29] __attribute__((unused)) = {
    0x1.bd6ae4d14b16fp-2, -0x1.c27d370ace103p-3, 0x1.bc8985dd90802p-5, 0x1.be8bec422aac6p-5, -0x1.1c9c8348ad1adp-4,
    0x1.0d976e44bd556p-5, -0x1.b68ce677a388ap-14, -0x1.1f8c17d127841p-7, 0x1.118f448d026ebp-8, 0x1.98f9783e1af55p-13,
    -0x1.a4139f9e13109p-11, 0x1.aef5985d7468ep-14, 0x1.218791a4ade47p-13, -0x1.d95865c5564edp-16,
    -0x1.bfc7a3e6469eep-16, 0x1.5208ed96c1ab2p-18, 0x1.87e36937de47fp-18, -0x1.123abda481e0dp-21,
    -0x1.6695cb1b7b392p-20, -0x1.840396aff44fep-24, 0x1.35e85f8161e28p-22, 0x1.3f4035540382cp-24,
    -0x1.c2d7bb8ab8a1cp-25, -0x1.b5ff003a227bfp-26, 0x1.d01bc3fed05b9p-28, 0x1.6a169ce36d5c6p-28,
    -0x1.b1f228d05096bp-32, -0x1.20e40e42d445ep-31, -0x1.07abf1be360e2p-36};

/* (1 + 1 x)^3 exp(x^2) i^2 erfc(x), q = (x - 3)/(x + 3); left out: 7.1e-18 */
static const double fit_erfcx_2[30] __attribute__((unused)) = {
    0x1.043fe1a98c0cdp-2, -0x1.2bd48098c43edp-3, -0x1.34501243e6adep-7, 0x1.8a3d9b4664c77p-4, -0x1.25b0087b9a85ep-4,
    0x1.d1edf563b3d83p-8, 0x1.86aeb237c94d5p-6, -0x1.ef987f11fdc8bp-7, -0x1.1bea96c2037f9p-11, 0x1.1ddd5859b876cp-8,
    -0x1.2317291f9c550p-10, -0x1.a2835287192d3p-11, 0x1.7c01bff4cac89p-12, 0x1.46732d0bcc5e8p-13,
    -0x1.6f94926060a31p-14, -0x1.3de6c9e67b70fp-15, 0x1.356dbc61bebacp-16, 0x1.6b01bc684e14ap-17,
    -0x1.9fd609c5d8011p-19, -0x1.a845f99e4ebc9p-19, 0x1.bf998f4eaa007p-23, 0x1.c833208297092p-21,
    0x1.f6eff2bab5886p-24, -0x1.9de266f319022p-23, -0x1.03e754c84b8f0p-24, 0x1.1e3cb7ebe813ap-25,
    0x1.f0ae8fd015d33p-27, -0x1.009f163411fe6p-28, -0x1.a81c9d2baf25dp-30, 0x1.a02d5a7adbe86p-33};

/* integral of s^1 exp(s x) over s from 0 to 1, q = 0.8 x; left out: 1.5e-20 */
static const double fit_exprel_1[18] __attribute__((unused)) = {
    0x1.0p-1, 0x1.aaaaaaaaaaaabp-2, 0x1.9000000000000p-3, 0x1.0aaaaaaaaaaabp-4, 0x1.15c71c71c71cbp-6,
    0x1.dc30c30c30c36p-9, 0x1.5b38e38e388d9p-11, 0x1.b8eac79006eb6p-14, 0x1.f008208276a74p-17, 0x1.f50acb8116cb4p-20,
    0x1.cb49e4e641d61p-23, 0x1.816ac3b736d7ep-26, 0x1.2a3d6a2e27fc5p-29, 0x1.ac3de680901f7p-33, 0x1.1eb4148aa7d1cp-36,
    0x1.67cb00b400080p-40, 0x1.b1b7277612e6cp-44, 0x1.e2e4bde5b1923p-48};

/* integral of s^2 exp(s x) over s from 0 to 1, q = 0.8 x; left out: 2.5e-20 */
static const double fit_exprel_2[18] __attribute__((unused)) = {
    0x1.5555555555555p-2, 0x1.4000000000000p-2, 0x1.4000000000000p-3, 0x1.bc71c71c71c72p-5, 0x1.dc30c30c30c39p-7,
    0x1.a0aaaaaaaaaafp-9, 0x1.34a4587e6b230p-11, 0x1.8cd34d34d302dp-14, 0x1.c2f01d8de505cp-17, 0x1.cb49e5365818cp-20,
    0x1.a7f570d233c54p-23, 0x1.65e32371df828p-26, 0x1.165b74d0786c6p-29, 0x1.917a08cd192e5p-33, 0x1.0dd679cfc4163p-36,
    0x1.53cdc1867e965p-40, 0x1.9aeee3577d4b1p-44, 0x1.cacab5fdbbc69p-48};

