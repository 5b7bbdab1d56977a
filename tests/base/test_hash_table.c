// SPDX-License-Identifier: Apache-2.0
// The hash table with more records than buckets, records that share a hash, and removals.
#include "testing.h"
#include "base/hash_table.h"

typedef struct Record {
    HashNode node;
    int number;
} Record;

static Record *find(const HashTable *t, uint64_t hash, int number) {
    for (HashNode *n = hash_chain(t, hash); n; n = n->next)
        if (n->hash == hash && ((Record *)n)->number == number) return (Record *)n;
    return NULL;
}

static Record *add(HashTable *t, uint64_t hash, int number) {
    Record *r = malloc(sizeof *r);
    *r = (Record){.node.hash = hash, .number = number};
    assert_true(hash_add(t, &r->node));
    return r;
}

static int n_freed;
static void free_record(HashNode *node) {
    n_freed++;
    free(node);
}

static void many(void **state) {
    enum { N = 5000 };
    static Record *records[N];
    HashTable t = {0};
    (void)state;
    assert_null(hash_chain(&t, 1));
    for (int i = 0; i < N; i++) records[i] = add(&t, hash_bytes(&i, sizeof i), i);
    assert_int_equal(t.n, N);
    for (int i = 0; i < N; i++) assert_ptr_equal(find(&t, hash_bytes(&i, sizeof i), i), records[i]);
    for (int i = 0; i < N; i += 2) {
        hash_remove(&t, &records[i]->node);
        free(records[i]);
    }
    for (int i = 0; i < N; i++)
        assert_ptr_equal(find(&t, hash_bytes(&i, sizeof i), i), i % 2 ? records[i] : NULL);
    n_freed = 0;
    hash_clear(&t, free_record);
    assert_int_equal(n_freed, N / 2);
    assert_true(!t.buckets && !t.n);
}

static void one_hash(void **state) {
    HashTable t = {0};
    Record *r[200];
    (void)state;
    for (int i = 0; i < 200; i++) r[i] = add(&t, 7, i);
    for (int i = 0; i < 200; i++) assert_ptr_equal(find(&t, 7, i), r[i]);
    assert_null(find(&t, 7 + 64, 0));
    hash_remove(&t, &r[100]->node);
    free(r[100]);
    assert_null(find(&t, 7, 100));
    assert_non_null(find(&t, 7, 99));
    hash_clear(&t, free_record);
}

static void hashes(void **state) {
    (void)state;
    assert_true(hash_text("a") != hash_text("b") && hash_text("") == hash_bytes(NULL, 0));
    assert_true(hash_text("abc") == hash_bytes("abc", 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(one_hash),
                                       cmocka_unit_test(hashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
