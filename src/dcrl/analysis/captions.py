"""Fixed texts of a report: captions, notes and what a section says when it has nothing to show."""

from __future__ import annotations

CURVES = (
    "QD score (sum of the fitness of all elites), coverage (share of cells with an elite) and max fitness over "
    "evaluations. Lines are medians over seeds; bands extend from the lower to the upper quartile."
)
CURVES_TIME = (
    "The same over wall time. Lines are medians over seeds; bands are 95% bootstrap intervals of the median (with "
    "fewer than three runs, quartiles). A run that has ended keeps its last value. The axis is logarithmic where "
    "the lengths of the series differ greatly. Wall times are comparable only between runs on the same, otherwise "
    "idle machine."
)
ABLATION = "DCRL, DCG and the ablations: without actor injection, and also without a descriptor-conditioned actor."
THRESHOLD = (
    "'Reached' counts the runs whose QD score reached the threshold before they ended. The median time is the time by "
    "which half of all runs had reached it. A run that ended below the threshold counts as slower than all others, so "
    "the median is 'not reached' if fewer than half of the runs get there. Intervals are 95% bootstrap intervals over "
    "seeds and need at least three runs."
)
AT_SECONDS = (
    "QD score after the given number of seconds of wall time, median [quartiles]. It is 0 before the first generation; "
    "a run that has ended keeps its last value. † marks values for which all runs had ended earlier."
)
CORRECTED = (
    "A corrected QD score counts each elite with its mean fitness over repeats, in the cell of its mean descriptor, so "
    "that lucky evaluations do not count. Times are those of re-evaluated archives: a run that was re-evaluated only "
    "at its end reaches a score at that time or not at all. Runs that were not re-evaluated are left out."
)
CORRECTED_AT_SECONDS = (
    "The last re-evaluated archive of each run up to the given number of seconds, median [quartiles]; in parentheses, "
    "the number of runs that have one. To add one, call `dcrl evaluate` on a copy of an earlier archive in the run "
    "directory."
)
FINAL = (
    "Final values: one dot per run, boxes from the lower to the upper quartile with the median, whiskers to the most "
    "distant run within 1.5 box lengths."
)
FINAL_TABLE = (
    "IQM is the interquartile mean, the mean of the middle half of the runs. Intervals are 95% percentile-bootstrap "
    "intervals over seeds and need at least three runs."
)
NOTHING_FINISHED = "No run has reached its budget yet, so there are no final values to compare."
NO_TESTS = "There is nothing to test: a test needs finished runs of at least two algorithms on the same task."
TESTS = (
    "P values after Holm-Bonferroni correction, bold where below 0.05. Below each, and as its colour, the share "
    "of pairs of runs in which the reference is better."
)
POWER = (
    "Seeds per algorithm at which a two-sided Mann-Whitney U test would find the difference with a power of 80%, "
    "alone / in this family. Up to 40 seeds, the power is simulated (1,000 pairs of normal samples); beyond that, "
    "Noether's approximation is used: n = (z(1 - a/2) + z(0.8))² / (6 (P - 1/2)²). P is the probability that a run of "
    "the reference is greater, estimated from the means and standard deviations of the runs as if they were normally "
    "distributed. Alone, the level a is 0.05; in the family it is divided by the number of tests, the first step of "
    "Holm's correction. With few runs these are rough estimates."
)
ACROSS = (
    "Scores are normalised per task and metric: of the runs compared in this section, the lowest final value is 0, the "
    "highest 1. All runs of all tasks are pooled. Intervals are 95% percentile-bootstrap intervals, stratified by task "
    "(2,000 resamples), given where every task has at least three runs. See Agarwal et al. (2021), Deep Reinforcement "
    "Learning at the Edge of the Statistical Precipice."
)
IQM = "Interquartile mean of the normalised scores of all tasks, with its 95% interval."
PROFILES = "Performance profiles: the share of runs, over all tasks, whose normalised score is above each value."
REPEAT = (
    "On another machine, or with other versions, the numbers will differ; each run's manifest.json has its versions."
)
NOT_EVALUATED = (
    "No run has been re-evaluated. An archive keeps the best of many noisy evaluations, so its stored numbers are too "
    "high; `dcrl evaluate RUN` measures by how much, and the next report shows it here."
)
REPRODUCIBILITY = (
    "Re-evaluated archives. Expected QD score and expected max fitness: the sum and the largest of the elites' mean "
    "fitness. Expected distance to descriptor: the mean distance between an elite's descriptor and the centroid of its "
    "cell, in units of the descriptor; lower is better. Corrected QD score: with each elite in the cell of its mean "
    "descriptor. Actors are conditioned on the centroid of each occupied cell. Boxes and dots as for the final values."
)
CELLS = (
    "From the per-cell tables, medians over runs: fitness as stored, mean fitness and standard deviation over the "
    "repeats (means over cells), and the share of policies whose mean descriptor lies in their own cell."
)
CLAIMS = (
    "What the paper reports, tested on these runs: a two-sided Mann-Whitney U test of each comparison, corrected by "
    "Holm's method over all comparisons of the claim that could be significant with so many runs; the others keep "
    "their p. The share of pairs is that of pairs of runs in which the algorithm that the paper found better is "
    "better; 0.5 is no difference. A claim holds, or its opposite does, where the difference remains significant "
    "(p < 0.05); otherwise these runs cannot tell. The paper has 20 runs per algorithm with 1,000,000 evaluations "
    "each, on another simulator."
)
NO_ARCHIVES = "There are no archives to draw."
STORED_MAPS = "Stored pictures of maps, for runs without an archive; each has its own colour scale."
IMPROVEMENT = (
    "Cumulative improvement of each group of operators: the fitness that its offspring added to the cells they entered "
    "(an empty cell counts as 0). Initial QD score plus total is the QD score. Medians and quartiles over seeds."
)
ADDED = "Offspring added to the archive by each group of operators, cumulative. Medians and quartiles over seeds."
OPERATORS = (
    "GA is the genetic operator; MAP-Elites has twice as many of its offspring per generation as DCRL, DCG and PGA. "
    "PG + AI are policy gradients, injected actors and greedy actors; evolution strategies appear in the total only. "
    "figures/operators.csv has each operator of each run up to the common number of evaluations, "
    "figures/operators_over_evaluations.csv the medians and quartiles over seeds."
)
NOTHING_UNEQUAL = "All runs are complete and comparable: same settings, budgets, commits, processors and seeds."
