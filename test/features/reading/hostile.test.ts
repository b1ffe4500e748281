import { describe, expect, test } from 'vitest';
import type { MetricsBlock } from '../../../src/core/documents.ts';
import type { JsonObject } from '../../../src/core/value.ts';
import {
  callRow,
  renderCallsText,
  renderCallText,
} from '../../../src/features/reading/render/calls.ts';
import {
  MODELS,
  renderCatalogueText,
  renderFeaturesText,
  renderPaymentsText,
} from '../../../src/features/reading/render/catalogue.ts';
import {
  BLOCKS,
  renderBillingText,
  renderMetricsBlockText,
  renderMetricsText,
} from '../../../src/features/reading/render/metrics.ts';
import {
  renderHistoryText,
  renderRecordsText,
  renderRecordText,
} from '../../../src/render/read/records.ts';
import { textWidth } from '../../../src/render/terminal.ts';

/** Clears the screen, turns the direction, hides, and breaks the line. */
const EVIL = 'Eve\u001b[2J\u009b31m\u202e\u200b\r\n\u2028\u0007';
const OPTIONS = { width: 60, color: false, verbose: false };

/** A record in which whatever is asked for is hostile. */
function evil(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, EVIL]));
}

const metrics: JsonObject = {
  metrics: evil('totalCalls', 'avgDuration'),
  resolutionBreakdown: evil('resolved'),
  dailyVolume: [evil('date', 'totalCalls')],
  hourlyDistribution: [evil('hour', 'calls')],
  agentPerformance: [evil('agentId', 'agentName', 'totalCalls', 'status')],
  aiInsights: evil('intentAccuracy'),
  escalationReasons: [evil('reason', 'count')],
};
const view = { start: EVIL, end: EVIL, of: EVIL, data: metrics };
const call: JsonObject = {
  ...evil('id', 'call_started_at', 'call_duration', 'recording_url', 'summary_text'),
  session_data: evil('caller_id'),
  transcript_json: [evil('text', 'speaker')],
};

const rows: readonly (readonly [string, () => string])[] = [
  [
    'records',
    () =>
      renderRecordsText(
        {
          kind: 'agent',
          fields: [{ path: 'name', title: 'name' }],
          records: [evil('name', 'organization_id')],
          groupedBy: 'organization_id',
          names: new Map([[EVIL, EVIL]]),
          unready: [{ id: EVIL, since: EVIL, says: EVIL }],
        },
        OPTIONS,
      ),
  ],
  [
    'one record',
    () =>
      renderRecordText({ [EVIL]: { [EVIL]: [EVIL] } }, [], OPTIONS, [
        { id: EVIL, since: EVIL, says: EVIL },
      ]),
  ],
  [
    'history',
    () => renderHistoryText(EVIL, [{ ...evil('action', 'source'), actor: evil('id') }], OPTIONS),
  ],
  ['no history', () => renderHistoryText(EVIL, [], OPTIONS)],
  ['calls', () => renderCallsText({ label: EVIL, rows: [callRow(call)], isCut: true }, OPTIONS)],
  ['one call', () => renderCallText(call, { transcript: true, summary: true }, OPTIONS)],
  [
    'a plain transcript',
    () => renderCallText({ transcript_text: EVIL }, { transcript: true, summary: false }, OPTIONS),
  ],
  [
    'billing',
    () =>
      renderBillingText(
        {
          start: '2026-10-01',
          end: '2026-10-31',
          rows: [evil('organization_name', 'reseller_name', 'voice_minutes', 'organization_id')],
        },
        OPTIONS,
      ),
  ],
  [
    'features',
    () =>
      renderFeaturesText(
        {
          scope: EVIL,
          isAdministered: true,
          features: [evil('key', 'name', 'state', 'category', 'decided_by')],
          lockedOnly: false,
        },
        OPTIONS,
      ),
  ],
  ['models', () => renderCatalogueText(MODELS, [evil('id', 'name', 'description')], OPTIONS)],
  ['payments', () => renderPaymentsText(EVIL, evil('account_status', 'success_url'), OPTIONS)],
  ['metrics', () => renderMetricsText(view, OPTIONS)],
  ...Object.keys(BLOCKS).map(
    (block) =>
      [
        `metrics ${block}`,
        () => renderMetricsBlockText(view, block as MetricsBlock, OPTIONS),
      ] as const,
  ),
];

describe('live text cannot act on a terminal', () => {
  test.each(rows)('%s', (_, render) => {
    const text = render();
    expect(text).toContain('Eve\\x1b[2J');
    expect(text).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u);
  });
});

test('a table of hostile text still fits', () => {
  const lines = renderCallsText(
    { label: 'Desk', rows: [callRow({ ...call, summary_text: EVIL.repeat(9) })], isCut: false },
    OPTIONS,
  ).split('\n');
  expect(lines.filter((line) => textWidth(line) > 60)).toEqual([]);
});

test('no line of a record begins with a command to a runner, wherever a text is folded', () => {
  const commands = 'x ::error::y '.repeat(40);
  const text = renderRecordText({ plain: commands, quoted: `a: ${commands}` }, [], OPTIONS);
  expect(text).toContain('::error::y');
  expect(text).not.toMatch(/^\s*::/m);
});
