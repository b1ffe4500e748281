import { expect, test } from 'vitest';
import type { ExportDocument } from '../../../../src/core/documents.ts';
import { renderExportText } from '../../../../src/features/writing/init/new-stack.ts';

const DOCUMENT: ExportDocument = {
  format: 'callsheet-export',
  version: 1,
  dir: 'fleet',
  in_repository: false,
  files: 3,
  organizations: [{ name: 'harbor', id: 'o1' }],
  resources: [{ kind: 'agent', count: 1 }],
  bases: 0,
  secrets: [],
  secrets_file: null,
  variables: [],
  remarks: [],
  unlisted: [],
  kept: [],
  state: true,
};
const SECRET = {
  name: 'AGENT_DESK__TOKEN',
  address: 'agent.desk',
  path: 'integrations.smsProvider.auth_token',
  told: false,
} as unknown as ExportDocument['secrets'][number];

const said = (more: Partial<ExportDocument>) =>
  renderExportText({ ...DOCUMENT, ...more }, { width: 80, color: false, verbose: false });

const nextOf = (more: Partial<ExportDocument>) => said(more).split('Next:\n')[1];

test('what is next: Git, the first plan, and secrets last, since a plan needs none', () => {
  expect(nextOf({})).toBe(
    '  git -C fleet init\n  git -C fleet add . && git -C fleet commit -m "Export"\n  callsheet plan --dir fleet\n',
  );
  expect(nextOf({ in_repository: true, secrets: [SECRET] })).toBe(
    '  git -C fleet add . && git -C fleet commit -m "Export"\n  callsheet plan --dir fleet\n' +
      '  before an apply that writes secrets, set the variables of SECRETS.md\n',
  );
  const most = nextOf({ dir: '.', secrets: [SECRET], secrets_file: 'fleet.env' });
  expect(most).toBe(
    '  git init\n  git add . && git commit -m "Export"\n  callsheet plan\n' +
      '  before an apply that writes secrets, set what is empty in fleet.env\n' +
      '  set -a; . ./fleet.env; set +a\n',
  );
});

test('a variable that many fields read stands there once, and that their values cannot be compared', () => {
  const secrets = [SECRET, { ...SECRET, address: 'agent.night' }];
  const text = said({ secrets });
  expect(text).toContain(
    'Secrets to supply (SECRETS.md): 1, for 2 fields\n  AGENT_DESK__TOKEN (2 resources)\n',
  );
  expect(text).toContain('Callsheet cannot compare');
  expect(said({ secrets: [SECRET] })).not.toContain('cannot compare');
});

test('a file of an earlier export that this one does not have is what a plan would make again', () => {
  const text = said({ kept: ['agents/old_name.yaml'], state: false });
  expect(text).toContain('Was there, and is not in this export\n  agents/old_name.yaml\n');
  expect(text).toContain('Delete those of what was renamed or is gone');
  expect(text).toContain('a state that is there stays as it is');
  expect(said({})).not.toContain('Was there');
});
