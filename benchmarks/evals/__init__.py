"""How right Roundtable is, on texts and answers that people and models really produced.

    python -m benchmarks.evals [NAME …] [--data DIR] [--split dev] [--limit N]

The data is not part of the project; sets that are not there are skipped and named.
"""
