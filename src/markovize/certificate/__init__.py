"""Certificates: evidence that a machine is the smallest, which a program other than the learner can check.

* :mod:`~markovize.certificate.reading`, :mod:`~markovize.certificate.formula` and
  :mod:`~markovize.certificate.checker` are the checker, on their own: they import nothing of markovize but each other.
* :mod:`~markovize.certificate.rup` checks refutations, compiled.
* :mod:`~markovize.certificate.verify` is what users call.
* :mod:`~markovize.certificate.make` writes certificates, :mod:`~markovize.certificate.cliques` and
  :mod:`~markovize.certificate.exemplars` find what they need. Nothing rests on these.
"""
