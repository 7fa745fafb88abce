"""The paper's data sets that are available: label budgets that are run, and published values."""

from benchmarks.data import a1a, covtype, kagg_cred, kagg_prot, ssl_secstr, ssl_text, w1a

DATA = [module.DATA for module in (kagg_prot, ssl_text, kagg_cred, a1a, w1a, covtype, ssl_secstr)]
