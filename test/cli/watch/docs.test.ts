import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import parsePrometheus from 'parse-prometheus-text-format';
import { expect, test } from 'vitest';
import { openMetrics } from '../../../src/cli/watch/metrics.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/watch.md'), 'utf8');

/** Metrics of a page, with what histograms add to their name taken away. */
function namedIn(text: string): ReadonlySet<string> {
  const names = text.match(
    /\b(?:callsheet|process|nodejs)_[a-z_]*(?:total|seconds|bytes|resources|changes|info)\b/g,
  );
  return new Set(names);
}

test('the page names every metric, and its alerts none that there is not', async () => {
  const { text } = await openMetrics(['clinic'], '1').expose();
  const exposed = parsePrometheus(text).map(({ name }) => name);
  const [, alerts = ''] = /```yaml\n(groups:[\s\S]*?)```/.exec(PAGE) ?? [];
  expect([...namedIn(PAGE)].sort()).toEqual(exposed.toSorted());
  expect(namedIn(alerts).size).toBeGreaterThan(5);
  const labels = [...alerts.matchAll(/(\w+)\{(\w+)="(\w+)"\}/g)].map(([, name, label]) => [
    name,
    label,
  ]);
  for (const [name, label] of labels) {
    expect(PAGE).toMatch(new RegExp(`^\\| \`${name}\` \\|[^|]*\`${label}\``, 'm'));
  }
});
