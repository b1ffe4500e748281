import { expect, test } from 'vitest';
import { renderSnapshotText } from '../../../src/features/recovery/snapshot.ts';
import type { SnapshotSummary } from '../../../src/snapshot/format.ts';

const PATH = 'extensions.tools[crm].headers[X-Api-Key].value';
const SUMMARY: SnapshotSummary = {
  format: 'callsheet-snapshot-summary',
  version: 1,
  file: 'a.snapshot',
  size: 1000,
  encryption: 'none',
  made_at: '2026-11-21T09:45:00Z',
  made_by: '0.1.0',
  platform: { base_url: 'https://voice.example.test', account_id: 'acc' },
  organization: null,
  sensitive: false,
  base: null,
  sha256: 'sha256:ab',
  resources: { agent: 30 },
  organizations: 1,
  answers: 0,
  withheld: Array.from({ length: 30 }, (_, index) => ({
    resource: `agent.desk_${index}`,
    name: null,
    paths: [PATH],
  })),
  gaps: [],
  restore: { secrets: [], exceptions: [] },
};

test('a header that every agent has is left out in one line, and what keeps it is said', () => {
  const options = { width: 80, color: false, verbose: false };
  const text = renderSnapshotText(SUMMARY, options);
  expect(text.slice(text.indexOf('Left out'))).toBe(
    [
      'Left out, because the file is not encrypted: 30 sensitive values',
      `  agent.desk_0 and 29 others  ${PATH}`,
      '  An encrypted one has them (--passphrase-file, --recipient).',
      '',
    ].join('\n'),
  );
  const all = renderSnapshotText(SUMMARY, { ...options, verbose: true });
  expect(all).toContain(`  agent.desk_29  ${PATH}`);
});
