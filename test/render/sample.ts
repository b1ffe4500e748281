import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { computeDigest } from '../../src/core/digest.ts';
import type {
  Callout,
  Change,
  FieldChange,
  PlanDocument,
  PlanOptions,
} from '../../src/core/plan-document.ts';
import { isSameJson, type Json } from '../../src/core/value.ts';
import { features } from '../../src/features/index.ts';
import { withCallouts } from '../../src/plan/document.ts';
import { openCallouts } from '../../src/run/context.ts';

/** Documents for the renderers' tests: what a test leaves out is the plainest value there is. */

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const UPTOWN = '8a41c0de-1f60-4f0a-b6a7-0c4d7e0f9b22';

/** A plan that may do nothing but what every plan does. */
export const NO_OPTIONS: PlanOptions = {
  allow_delete: false,
  accept_conflicts: false,
  skip_refused: false,
  resend_secrets: false,
  target: [],
  exclude: [],
  force: false,
};

const DIGEST = `sha256:${'0'.repeat(64)}`;

export function fieldOf(
  path: string,
  before: Json,
  after: Json,
  more: Partial<FieldChange> = {},
): FieldChange {
  return { path, before, after, secret: false, cause: 'changed', ...more };
}

export function changeOf(more: Partial<Change> = {}): Change {
  const address = more.address ?? 'agent.reception';
  const action = more.action ?? 'update';
  const exists = action !== 'create';
  return {
    address,
    kind: address.slice(0, address.indexOf('.')),
    name: 'Front desk',
    organization_id: HARBOR,
    id: exists ? '5d2b7f1a-0000-4000-8000-000000000001' : null,
    action,
    verdict: 'ok',
    reason: action === 'create' ? 'not on the platform yet' : 'the configuration changed',
    adopted: action === 'adopt',
    missing_id: null,
    before: null,
    after: null,
    fields: [],
    pin: exists ? { digest: DIGEST, updated_at: '2026-03-02T09:00:00Z', history_id: 41 } : null,
    operations: [],
    source: 'agents/reception.yaml:4',
    ...more,
  };
}

/** A document of the given changes; its counts and call-outs follow from them. */
export function planOf(given: readonly Change[], more: Partial<PlanDocument> = {}): PlanDocument {
  const changes = given.map((change) => withCallouts(change, findCallouts));
  const acting = (action: Change['action']) =>
    changes.filter((change) => change.action === action).length;
  const judged = (verdict: Change['verdict']) =>
    changes.filter((change) => change.verdict === verdict).length;
  return {
    format: 'callsheet-plan',
    version: 1,
    digest: DIGEST,
    checks: {},
    created_at: '2026-03-02T10:00:00.000Z',
    purpose: 'apply',
    platform: { base_url: 'https://voice.example.test', account_id: 'acc-1' },
    organizations: { [HARBOR]: 'harbor', [UPTOWN]: 'uptown' },
    config_digest: DIGEST,
    state: { lineage: '0f0e0d0c-0000-4000-8000-00000000000a', serial: 7 },
    options: NO_OPTIONS,
    summary: {
      create: acting('create'),
      update: acting('update'),
      replace: acting('replace'),
      delete: acting('delete'),
      adopt: acting('adopt'),
      forget: acting('forget'),
      no_op: 12,
      refused: judged('refused'),
      held: judged('held'),
      unsupported: judged('unsupported'),
    },
    requests: { reads: 14, writes: 10, seconds: 3 },
    assumptions: [],
    changes,
    notes: [],
    ...more,
  };
}

const RECORD = join(import.meta.dirname, 'golden/callouts.json');
const recorded: { [texts: string]: readonly Callout[] } = existsSync(RECORD)
  ? JSON.parse(readFileSync(RECORD, 'utf8'))
  : {};
const finder = features.some(({ callouts }) => callouts !== undefined)
  ? await openCallouts(features)
  : undefined;

/**
 * The call-outs of two texts. A copy without the feature that finds them (`scripts/features.ts`) has those that are
 * recorded. `UPDATE_GOLDEN=1` records them.
 */
function findCallouts(before: string, after: string): readonly Callout[] {
  const key = computeDigest([before, after]);
  const own = recorded[key] ?? [];
  if (finder === undefined) return own;
  const found = finder(before, after);
  if (process.env.UPDATE_GOLDEN === '1' && !isSameJson(found, own)) {
    recorded[key] = found;
    writeFileSync(RECORD, `${JSON.stringify(recorded)}\n`);
  }
  return found;
}
