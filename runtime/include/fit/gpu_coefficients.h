/* fit/gpu_coefficients.h -- numbers of fit/gpu_libm.h, made by build-aux/approximations.py gpu; lowest power
 * first. */

/* erf(x)/x - 1, x < 1, q = 2 x^2 - 1; left out: 2.0e-21 of erf(x)/x */
FIT_COEFFICIENTS fit_erf_near[14] FIT_UNUSED = {
    -0x1.1ae14dc34815ap-5, -0x1.1fd16292151fdp-3, 0x1.454368017b042p-6, -0x1.2b902b7b2f224p-9, 0x1.c82aa249df4a1p-13,
    -0x1.263991b81d64ap-16, 0x1.486638bc934b7p-20, -0x1.429e938badfd2p-24, 0x1.1ad5ee09b8bdcp-28,
    -0x1.bf8e5ae42bbbep-33, 0x1.428e75ed38937p-37, -0x1.aad6d138d6c0bp-42, 0x1.0613987edce0dp-46,
    -0x1.29cd9cfb6be5fp-51};

/* x exp(x^2) erfc(x), 1 < 1/x < 2, q from -1 to 1; left out: 3.1e-20 */
FIT_COEFFICIENTS fit_erfc_half[21] FIT_UNUSED = {
    0x1.7026c7fe254efp-2, -0x1.e4f552d9716d5p-5, 0x1.0f9f2a7f71c6dp-7, -0x1.84d69756a4d85p-11, -0x1.31542d479ec0ep-14,
    0x1.0e7e636c66d85p-14, -0x1.875198e20c2f0p-16, 0x1.bbd99ce249065p-18, -0x1.b2e398b89d898p-20,
    0x1.74e8c1aa942c7p-22, -0x1.0be8861675675p-24, 0x1.0663fdc67d281p-27, 0x1.8e24c118aba61p-32,
    -0x1.768f72ab3dd25p-31, 0x1.56d3165783dd5p-32, -0x1.dede64504527dp-34, 0x1.2239fba465923p-35,
    -0x1.3bbddc5187dd1p-37, 0x1.477871359fd78p-39, -0x1.4f3973a331c59p-41, 0x1.c1fee6964906bp-44};

/* x exp(x^2) erfc(x), 0.5 < 1/x < 1, q from -1 to 1; left out: 4.1e-21 */
FIT_COEFFICIENTS fit_erfc_one[21] FIT_UNUSED = {
    0x1.df6a7891d7325p-2, -0x1.5a4720afb6ebcp-5, 0x1.3cfedc0bfe539p-10, 0x1.4a14f6e4a6dffp-11, -0x1.9d6a514f40058p-13,
    0x1.34bef97c0c36ap-15, -0x1.28d3f1e5e954dp-18, 0x1.2606c8f640a57p-25, 0x1.6cac1b73e40b9p-23,
    -0x1.09dee2ac5c758p-24, 0x1.0267778d4b40ep-26, -0x1.7bb8b54c15010p-29, 0x1.71a03e233569dp-32,
    0x1.86bd961b893ffp-38, -0x1.55b461792f8a4p-36, 0x1.0b3b23678f5c2p-37, -0x1.27b78eec02fbfp-39,
    0x1.10b9081c661a2p-41, -0x1.8af4737878352p-44, 0x1.4b0aa4a087801p-49, 0x1.ce3ddc6332478p-49};

/* x exp(x^2) erfc(x), 0.03125 < 1/x < 0.5, q from -1 to 1; left out: 3.2e-21 */
FIT_COEFFICIENTS fit_erfc_two[28] FIT_UNUSED = {
    0x1.179948e0156d1p-1, -0x1.de31f40b7782cp-6, -0x1.1b95fadb89d98p-7, 0x1.6e650dffb33f3p-9, -0x1.2f282031f5c78p-13,
    -0x1.5c576784aee63p-13, 0x1.1351c979e759bp-14, -0x1.c56c51b7ca28bp-18, -0x1.391a66e0cea04p-18,
    0x1.7410a72382959p-19, -0x1.4f6656e94289bp-21, -0x1.91d68e2bc3dfbp-24, 0x1.2a82c4cd08734p-23,
    -0x1.ec03045f5facep-25, 0x1.153f908ab55dfp-27, 0x1.6a7570f1ec7b0p-28, -0x1.330fd14efe950p-28,
    0x1.cc9c1c4bff3aep-30, -0x1.70710866599bdp-33, -0x1.d573b76b7a66dp-33, 0x1.6399702e31e78p-33,
    -0x1.3cb11be335904p-34, 0x1.6f9b53f0ef498p-36, 0x1.56a2ff7c19523p-37, -0x1.0a675abb541dbp-36,
    0x1.153c3544a75b0p-38, 0x1.084c6391e32b6p-39, -0x1.dbbe82c1bafdbp-41};

/* 2/pi: words of 32 bits behind the point */
FIT_WORDS fit_two_over_pi[40] FIT_UNUSED = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};
