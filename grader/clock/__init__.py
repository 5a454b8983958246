"""The timing judge: a submission against a baseline in one run; a share, its interval, or "cannot say".

Where each question of a dispute is answered:

| question | module |
| --- | --- |
| what is measured, in which order, what is dropped and why | `interleave` |
| how times become an interval that may be looked at again and again | `interval` |
| when the run ends, who gets the benefit of the doubt, what a verdict is | `grading`, `verdict` |
| below which time nobody is believed | `floor` |
| what a GPU (or its simulation) must offer | `device`, `simulated` |
| what the machine under it is asked, and who is a neighbour | `host`, `nvml`, `nvml_host`, `l2` |
| who has the card now | `lock` |
| what a row of thresholds rests on | `calibration`, `ceilings` |
| what a student's own bench does otherwise | `in_process` |

The points policy. A share of the points is read at the end of the interval that favours the student, once the
interval is narrower than a twentieth of the points. Read at the estimate instead, a submission exactly at the
full-credit threshold would lose points in half of its gradings; read at the favourable end, it loses some only when
the interval lies wholly above its true ratio, which half of `Plan.alpha` bounds over all shapes, looks and attempts.
The price is known too: nobody is given more than a twentieth of the points, and a ratio more than
`Plan.resolution` outside full credit is not given all of them, each but for that same small probability.
"""
