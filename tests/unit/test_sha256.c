/* test_sha256.c -- the published test values, and both forms against each other. */
#include "common/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void hash(const void *data, size_t n, size_t piece, int portable, char hex[SHA256_HEX])
{
    struct sha256 s;
    unsigned char digest[SHA256_BYTES];
    if (portable)
        sha256_init_portable(&s);
    else
        sha256_init(&s);
    for (size_t at = 0; at < n; at += piece)
        sha256_update(&s, (const char *)data + at, n - at < piece ? n - at : piece);
    sha256_final(&s, digest);
    sha256_hex(digest, hex);
}

/* NIST CAVS / FIPS 180-4 example values. */
static void test_published_values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } v[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[SHA256_HEX], *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    for (int portable = 0; portable < 2; portable++) {
        for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
            hash(v[i].text, strlen(v[i].text), 100, portable, hex);
            assert_string_equal(hex, v[i].hex);
        }
        hash(million, 1000000, 999, portable, hex);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    free(million);
}

static void test_pieces_and_forms_agree_at_every_length(void **state)
{
    (void)state;
    unsigned char data[300];
    uint32_t x = 12345;
    for (size_t i = 0; i < sizeof data; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = (unsigned char)(x >> 24);
    }
    for (size_t n = 0; n <= sizeof data; n++) {
        char whole[SHA256_HEX], pieces[SHA256_HEX], portable[SHA256_HEX];
        hash(data, n, 1000, 0, whole);
        hash(data, n, 1 + n % 67, 0, pieces);
        hash(data, n, 1000, 1, portable);
        assert_string_equal(whole, pieces);
        assert_string_equal(whole, portable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_values),
        cmocka_unit_test(test_pieces_and_forms_agree_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
