import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/core/digest.ts';
import { Blob, type JsonObject } from '../../src/core/value.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { rememberResource } from '../../src/plan/state-entry.ts';
import type { AppliedLeaf, ResourceState } from '../../src/state/model.ts';
import { desiredResource, fingerprinter, HARBOR, KEY, type Written, world } from '../world.ts';

type Leaves = ResourceState['leaves'];

type Case = {
  readonly wanted: Written;
  /** What was read of it. */
  readonly document?: JsonObject;
  /** What the state had of it. */
  readonly known?: Leaves;
  /** Paths that the run wrote. */
  readonly written?: readonly string[];
  readonly secrets?: Readonly<Record<string, string>>;
};

const PIN = { digest: 'sha256:now', updated_at: null, history_id: 42 };

/** What the state remembers of a resource. */
function remembered(address: string, given: Case): ResourceState {
  const { wanted, document, known, written = [], secrets = {} } = given;
  const desired = desiredResource(address, wanted);
  const live = { id: 'x1', scope: {}, pin: PIN, ...(document && { document }) };
  const previous = known && ({ leaves: known } as ResourceState);
  const sides = world().secrets(secrets).given();
  return rememberResource(
    kindNamed(desired.kind),
    desired,
    live,
    previous,
    new Set(written),
    sides,
  );
}

/** What it remembers of an agent, but for its organization. */
function leavesOf(given: Case): Leaves {
  const { organization_id: _, ...leaves } = remembered('agent.desk', given).leaves;
  return leaves;
}

const TOKEN = 'integrations.smsProvider.auth_token';
const token = { integrations: { smsProvider: { auth_token: { $secret: 'env:KEY' } } } };
const SOURCE = computeDigest('env:KEY');
const printOf = (path: string, value: string): AppliedLeaf => ({
  fingerprint: fingerprinter(KEY).of('agent.desk', path, value),
  source: SOURCE,
});
const UNKNOWN: AppliedLeaf = { unknown: true };
const TAKEN: AppliedLeaf = { unknown: true, source: SOURCE };
const BEFORE: AppliedLeaf = { fingerprint: 'of before', source: computeDigest('env:OTHER') };
const HEADER = 'extensions.mcp_servers[C].auth_headers.X';
const header = {
  extensions: {
    mcp_servers: [{ connection_name: 'C', auth_headers: { X: { $secret: 'env:KEY' } } }],
  },
};

describe('the state remembers of a resource', () => {
  test('its kind, id, name and pin, and whether it is protected', () => {
    const wanted = { name: 'Desk', lifecycle: { protect: true } };
    expect(remembered('agent.desk', { wanted })).toStrictEqual({
      kind: 'agent',
      id: 'x1',
      scope: {},
      name: 'Desk',
      leaves: { organization_id: { value: HARBOR }, name: { value: 'Desk' } },
      pin: PIN,
      protect: true,
    });
  });

  test('its address where its name is no text', () => {
    const wanted = { name: { $secret: 'env:NAME' } };
    expect(remembered('agent.desk', { wanted }).name).toBe('agent.desk');
    expect(remembered('agent.desk', { wanted: { status: 'active' } }).name).toBe('agent.desk');
  });

  test.each<readonly [string, Case, Leaves]>([
    [
      'a secret that was written',
      { wanted: token, written: [TOKEN], secrets: { 'env:KEY': 'a' } },
      { [TOKEN]: printOf(TOKEN, 'a') },
    ],
    [
      'of a secret that was taken over, only that it is there, and its source',
      { wanted: token, secrets: { 'env:KEY': 'a' } },
      { [TOKEN]: TAKEN },
    ],
    [
      'of one that was not written, what it knew, whatever its source is by now',
      { wanted: token, known: { [TOKEN]: BEFORE }, secrets: { 'env:KEY': 'a' } },
      { [TOKEN]: BEFORE },
    ],
    [
      'of one that is not at hand, what it knew',
      { wanted: token, known: { [TOKEN]: BEFORE }, written: [TOKEN] },
      { [TOKEN]: BEFORE },
    ],
    [
      'of one that is not at hand and was not known, only that it is there, and its source',
      { wanted: token, written: [TOKEN] },
      { [TOKEN]: TAKEN },
    ],
    [
      'of one that was recorded without a source, the source that it has',
      { wanted: token, known: { [TOKEN]: UNKNOWN } },
      { [TOKEN]: TAKEN },
    ],
    [
      'of one that a dead run may have written, no source',
      { wanted: token, known: { [TOKEN]: { unsettled: true } } },
      { [TOKEN]: { unsettled: true } },
    ],
    [
      'what is returned as it is now',
      { wanted: { name: 'New' }, known: { name: { value: 'Old' } } },
      { name: { value: 'New' } },
    ],
    [
      'an empty list, which is owned',
      { wanted: { extensions: { tools: [] } } },
      { 'extensions.tools': { value: null } },
    ],
    [
      'nothing of a reference to what is not there yet',
      { wanted: { default_retry_policy_id: { $ref: 'retry_policy.p' } } },
      {},
    ],
    [
      'nothing of what is ignored',
      {
        wanted: {
          name: 'Desk',
          voice_settings: { speed: 1 },
          extensions: { tools: [] },
          lifecycle: { ignore: ['voice_settings', 'extensions.tools'] },
        },
      },
      { name: { value: 'Desk' } },
    ],
    [
      'all of it where what is to be ignored is no path',
      { wanted: { name: 'Desk', lifecycle: { ignore: ['"half'] } } },
      { name: { value: 'Desk' } },
    ],
    [
      'what is newer than the schema where the platform returns it',
      { wanted: { bargeInMode: 'soft' }, document: { bargeInMode: 'soft' } },
      { bargeInMode: { value: 'soft' } },
    ],
    [
      'of what is newer than the schema and not returned, only that it is there',
      { wanted: { bargeInMode: 'soft' }, document: { name: 'Desk' } },
      { bargeInMode: UNKNOWN },
    ],
    [
      'the same where nothing was read',
      { wanted: { bargeInMode: 'soft' } },
      { bargeInMode: UNKNOWN },
    ],
    [
      'what is newer than the schema and not returned where it was written',
      { wanted: { bargeInMode: 'soft' }, document: { name: 'Desk' }, written: ['bargeInMode'] },
      { bargeInMode: { value: 'soft' } },
    ],
  ])('%s', (_, given, leaves) => {
    expect(leavesOf(given)).toStrictEqual(leaves);
  });

  test('a header that is returned in clear as a fingerprint, and what it knew where it is not at hand', () => {
    const known = { [HEADER]: BEFORE };
    const name = 'extensions.mcp_servers[C].connection_name';
    expect(leavesOf({ wanted: header, known, secrets: { 'env:KEY': 'a' } })).toStrictEqual({
      [name]: { value: 'C' },
      [HEADER]: printOf(HEADER, 'a'),
    });
    expect(leavesOf({ wanted: header, known, written: [HEADER] })).toStrictEqual({
      [name]: { value: 'C' },
      [HEADER]: BEFORE,
    });
  });

  test('the content of a file also where it was taken over', () => {
    const clip = new Blob('voices/harbor.wav', 'aa', 9, 'audio/wav');
    expect(remembered('custom_voice.harbor', { wanted: { clip } }).leaves).toMatchObject({
      clip: { digest: 'sha256:aa' },
    });
    const known = { clip: { digest: 'sha256:before' } };
    expect(remembered('custom_voice.harbor', { wanted: { clip }, known }).leaves).toMatchObject(
      known,
    );
  });
});
