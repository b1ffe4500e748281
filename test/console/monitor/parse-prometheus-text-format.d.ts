/** The part of the parser that tests use; it brings no types. Values are texts, as they are written. */
declare module 'parse-prometheus-text-format' {
  type Metric = {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
    /** Of a histogram; of one with labels it keeps these alone. */
    readonly buckets?: Readonly<Record<string, string>>;
  };
  type Family = {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly Metric[];
  };
  export default function parsePrometheusTextFormat(text: string): readonly Family[];
}
