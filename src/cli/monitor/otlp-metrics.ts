import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import type { Collected, Figure } from './metrics.ts';

type Span = { readonly startTime: HrTime; readonly endTime: HrTime };

/**
 * What Prometheus reads, as OTLP has it: under the same names, with the same labels, counted from the start of the
 * process on. So a dashboard or an alert finds them whichever way they came.
 */
export function otlpMetrics(
  collected: Collected,
  { from, to }: { readonly from: number; readonly to: number },
): MetricData[] {
  const span = { startTime: millisToHrTime(from), endTime: millisToHrTime(to) };
  return collected.map(({ name, help, type, values }) => {
    const descriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE };
    const aggregationTemporality = AggregationTemporality.CUMULATIVE;
    const common = { descriptor, aggregationTemporality };
    const point = ({ labels: attributes, value }: Figure) => ({ ...span, attributes, value });
    switch (type) {
      case 'histogram':
        return {
          ...common,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histograms(values, span),
        };
      case 'counter':
        return {
          ...common,
          dataPointType: DataPointType.SUM,
          isMonotonic: true,
          dataPoints: values.map(point),
        };
      default:
        return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: values.map(point) };
    }
  });
}

/** Prometheus counts what is at most a bound; OTLP what lies between two. */
function histograms(values: readonly Figure[], span: Span) {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((figures) => {
    const { le: _, ...attributes } = figures[0]?.labels ?? {};
    const named = (end: string) =>
      figures.find(({ metricName }) => metricName?.endsWith(end) === true)?.value ?? 0;
    const bounded = figures.filter(({ labels }) => labels.le !== undefined);
    const boundaries = bounded.map(({ labels }) => Number(labels.le)).filter(Number.isFinite);
    const counts = bounded.map(({ value }, index) => value - (bounded[index - 1]?.value ?? 0));
    const value = { buckets: { boundaries, counts }, sum: named('_sum'), count: named('_count') };
    return { ...span, attributes, value };
  });
}
