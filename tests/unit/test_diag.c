/* The diagnostics sink: quoting, carets, notes, the cap, JSON, -Werror. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/diag.h"
#include "util/utf8.h"

typedef struct output {
    FILE *file;
    char *text;
    size_t len;
} output;

static diag_sink *sink(output *o, diag_format format)
{
    o->file = open_memstream(&o->text, &o->len);
    return diag_create(o->file, format);
}

/* What was written; the caller frees it. */
static char *finish(output *o, diag_sink *d)
{
    diag_destroy(d);
    fclose(o->file);
    return o->text;
}

static src_span span(uint16_t file, uint32_t line, uint16_t col, uint16_t end)
{
    return (src_span){{line, col, file}, {end ? line : 0, end, end ? file : 0}};
}

static void expect_text(const char *source, src_span at, const char *expected)
{
    output o;
    diag_sink *d = sink(&o, DIAG_FORMAT_TEXT);
    diag_add_file(d, "a.tk", source, strlen(source));
    assert_false(diag(d, at, DIAG_SYNTAX, "wrong"));
    assert_int_equal(diag_error_count(d), 1);
    char *text = finish(&o, d);
    assert_string_equal(text, expected);
    free(text);
}

static void test_caret(void **state)
{
    (void)state;
    expect_text("let abc = 1;\n", span(0, 1, 5, 8), "a.tk:1:5: error: wrong [E0101]\nlet abc = 1;\n    ^~~\n");
    expect_text("let abc = 1;", span(0, 1, 5, 0), "a.tk:1:5: error: wrong [E0101]\nlet abc = 1;\n    ^\n");
    expect_text("a\r\nbc\r\n", span(0, 2, 3, 0), "a.tk:2:3: error: wrong [E0101]\nbc\n  ^\n");
    expect_text("\tx\ty = 1;", span(0, 1, 4, 5), "a.tk:1:4: error: wrong [E0101]\n        x       y = 1;\n                ^\n");
    expect_text("\xc3\xa9\xc3\xa9 x", span(0, 1, 6, 7), "a.tk:1:6: error: wrong [E0101]\n\xc3\xa9\xc3\xa9 x\n   ^\n");
    expect_text("a\x1b[0m\xff x", span(0, 1, 8, 9), "a.tk:1:8: error: wrong [E0101]\na?[0m? x\n       ^\n");
}

static void test_places_without_line(void **state)
{
    (void)state;
    expect_text("a\n", span(0, 2, 1, 0), "a.tk:2:1: error: wrong [E0101]\n"); /* the end of the file */
    expect_text("a\n", span(0, 9, 9, 0), "a.tk:9:9: error: wrong [E0101]\n");
    expect_text("a\n", span(0, 0, 0, 0), "tkc: error: wrong [E0101]\n");
    expect_text("a", span(0, 1, UINT16_MAX, 0), "a.tk:1:65535: error: wrong [E0101]\n");
}

static void test_span_over_lines(void **state)
{
    (void)state;
    src_span at = {{1, 3, 0}, {2, 2, 0}};
    expect_text("a bcd\nefg\n", at, "a.tk:1:3: error: wrong [E0101]\na bcd\n  ^~~\n");
}

static void test_long_line(void **state)
{
    (void)state;
    char source[1001], expected[1000] = "a.tk:1:501: error: wrong [E0101]\n...";
    memset(source, 'x', 1000);
    source[1000] = '\0';
    size_t n = strlen(expected);
    memset(expected + n, 'x', 160);
    strcpy(expected + n + 160, "...\n");
    n = strlen(expected);
    memset(expected + n, ' ', 63);
    strcpy(expected + n + 63, "^~~\n");
    expect_text(source, span(0, 1, 501, 504), expected);
}

static void test_notes_and_cap(void **state)
{
    (void)state;
    output o;
    diag_sink *d = sink(&o, DIAG_FORMAT_TEXT);
    uint16_t file = diag_add_file(d, "a.tk", "x\n", 2);
    for (int k = 0; k < 25; k++) {
        assert_int_equal(diag_too_many(d), k >= 20);
        diag(d, span_at((src_loc){0, 0, file}), DIAG_SYNTAX, "wrong");
        diag_note(d, span_at((src_loc){0, 0, file}), "note %d", k);
    }
    assert_int_equal(diag_error_count(d), 25);
    char *text = finish(&o, d);
    assert_non_null(strstr(text, "tkc: error: wrong [E0101]\ntkc: note: note 19\ntkc: stopped after 20 errors\n"));
    assert_null(strstr(text, "note 20"));
    free(text);
}

static void test_repeated(void **state)
{
    (void)state;
    output o;
    diag_sink *d = sink(&o, DIAG_FORMAT_TEXT);
    uint16_t file = diag_add_file(d, "a.tk", "", 0);
    for (int k = 0; k < 25; k++) {
        diag(d, span_at((src_loc){3, 2, file}), DIAG_SYNTAX, "wrong");
        diag_note(d, span_at((src_loc){3, 2, file}), "note %d", k);
    }
    diag(d, span_at((src_loc){3, 2, file}), DIAG_SYNTAX, "wrong in another way");
    diag(d, span_at((src_loc){3, 3, file}), DIAG_SYNTAX, "wrong");
    assert_int_equal(diag_error_count(d), 27);
    assert_false(diag_too_many(d));
    char *text = finish(&o, d);
    assert_string_equal(text, "a.tk:3:2: error: wrong [E0101]\na.tk:3:2: note: note 0\na.tk:3:2: error: wrong in another way [E0101]\n"
                              "a.tk:3:3: error: wrong [E0101]\n");
    free(text);
}

static diag_code first_warning(void)
{
    for (int k = 0; k < DIAG_COUNT; k++)
        if (diag_code_severity((diag_code)k) == DIAG_WARNING && !strchr(diag_code_text((diag_code)k), '%'))
            return (diag_code)k;
    return DIAG_COUNT;
}

static void test_werror(void **state)
{
    (void)state;
    diag_code code = first_warning();
    if (code == DIAG_COUNT)
        skip();
    for (int werror = 0; werror < 2; werror++) {
        output o;
        diag_sink *d = sink(&o, DIAG_FORMAT_TEXT);
        diag_set_werror(d, werror != 0);
        diag(d, span_at((src_loc){0, 0, 0}), code);
        assert_int_equal(diag_error_count(d), werror);
        char *text = finish(&o, d);
        assert_int_equal(strstr(text, "error: ") != NULL, werror);
        assert_int_equal(strstr(text, "-Werror]") != NULL, werror);
        free(text);
    }
}

static void test_json(void **state)
{
    (void)state;
    output o;
    diag_sink *d = sink(&o, DIAG_FORMAT_JSON);
    uint16_t file = diag_add_file(d, "dir\\a\".tk", "x\n", 2);
    diag(d, span(file, 1, 1, 2), DIAG_SYNTAX, "\"a\"\n\t\xc3\xa9\xff");
    diag_note(d, span_at((src_loc){1, 2, file}), "here");
    diag(d, span_at((src_loc){0, 0, 0}), DIAG_SYNTAX, "b");
    char *text = finish(&o, d);
    assert_string_equal(text,
        "[\n  {\"code\": \"E0101\", \"severity\": \"error\", \"message\": \"\\\"a\\\"\\u000a\\u0009\xc3\xa9\\ufffd\", \"file\": \"dir\\\\a\\\".tk\", "
        "\"line\": 1, \"column\": 1, \"end_line\": 1, \"end_column\": 2, \"notes\": [\n    {\"severity\": \"note\", \"message\": \"here\", "
        "\"file\": \"dir\\\\a\\\".tk\", \"line\": 1, \"column\": 2}\n  ]},\n"
        "  {\"code\": \"E0101\", \"severity\": \"error\", \"message\": \"b\", \"notes\": []}\n]\n");
    free(text);
}

static void test_nothing_said(void **state)
{
    (void)state;
    output o;
    char *text = finish(&o, sink(&o, DIAG_FORMAT_TEXT));
    assert_string_equal(text, "");
    free(text);
    text = finish(&o, sink(&o, DIAG_FORMAT_JSON));
    assert_string_equal(text, "[]\n");
    free(text);
}

/* Codes are unique: tools and docs refer to them. */
static void test_codes(void **state)
{
    (void)state;
    for (int a = 0; a < DIAG_COUNT; a++) {
        const char *name = diag_code_name((diag_code)a);
        assert_int_equal(strlen(name), 5);
        assert_int_equal(name[0], diag_code_severity((diag_code)a) == DIAG_WARNING ? 'W' : 'E');
        for (int b = 0; b < a; b++)
            assert_string_not_equal(name, diag_code_name((diag_code)b));
    }
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"a", 1}, {"\xc3\xa9", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4}, {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0}, {"\xc0\x80", 0}, {"\xc1\xbf", 0}, {"\xe0\x80\x80", 0}, {"\xed\xa0\x80", 0}, {"\xf0\x80\x80\x80", 0}, {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0}, {"\xff", 0}, {"\xc3", 0}, {"\xe2\x82", 0}, {"\xc3x", 0}, {"", 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_int_equal(utf8_length(cases[k].text, strlen(cases[k].text)), cases[k].length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caret),        cmocka_unit_test(test_places_without_line), cmocka_unit_test(test_span_over_lines),
        cmocka_unit_test(test_long_line),    cmocka_unit_test(test_notes_and_cap),       cmocka_unit_test(test_werror),
        cmocka_unit_test(test_json),         cmocka_unit_test(test_nothing_said),        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_utf8),         cmocka_unit_test(test_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
