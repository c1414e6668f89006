//! The text form of a percentile distribution that plotters of HdrHistogram read, as its first implementation, in Java,
//! writes it.

use hdrhistogram::Histogram;
use std::io::{self, BufWriter, Write};

/// Steps of the percentile on each half of the way to 100 %.
const STEPS: u32 = 5;

/// Writes the distribution, in the unit of the histogram.
pub(super) fn write(histogram: &Histogram<u64>, to: impl Write) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    writeln!(to, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut total = 0;
    for step in histogram.iter_quantiles(STEPS) {
        total += step.count_since_last_iteration();
        let (value, share) = (step.value_iterated_to() as f64, step.quantile_iterated_to());
        write!(to, "{value:12.3} {share:.12} {total:10}")?;
        if share < 1.0 {
            write!(to, " {:14.2}", 1.0 / (1.0 - share))?;
        }
        writeln!(to)?;
    }
    // Buckets overlap by half.
    let halves = usize::from(histogram.buckets()) + 1;
    let (mean, deviation) = (histogram.mean(), histogram.stdev());
    writeln!(to, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
    writeln!(to, "#[Max     = {:12.3}, Total count    = {:12}]", histogram.max() as f64, histogram.len())?;
    let sub_buckets = 2 * histogram.distinct_values() / halves;
    writeln!(to, "#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]", histogram.buckets())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_that_of_java() {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        for value in 1..=4 {
            histogram.record(value).unwrap();
        }
        let mut text = Vec::new();
        write(&histogram, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "       Value     Percentile TotalCount 1/(1-Percentile)

       1.000 0.000000000000          1           1.00
       1.000 0.100000000000          1           1.11
       1.000 0.200000000000          1           1.25
       2.000 0.300000000000          2           1.43
       2.000 0.400000000000          2           1.67
       2.000 0.500000000000          2           2.00
       3.000 0.550000000000          3           2.22
       3.000 0.600000000000          3           2.50
       3.000 0.650000000000          3           2.86
       3.000 0.700000000000          3           3.33
       4.000 0.750000000000          4           4.00
       4.000 1.000000000000          4
#[Mean    =        2.500, StdDeviation   =        1.118]
#[Max     =        4.000, Total count    =            4]
#[Buckets =           22, SubBuckets     =         2048]
"
        );
    }
}
