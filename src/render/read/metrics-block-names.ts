/** The blocks that a metrics answer is made of (Metrics). Apart, as every start of the program names them. */
export const METRICS_BLOCKS = [
  'totals',
  'outcomes',
  'daily',
  'hourly',
  'agents',
  'reasons',
  'insights',
] as const;

export type MetricsBlock = (typeof METRICS_BLOCKS)[number];
