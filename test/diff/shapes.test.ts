import { describe, expect, test } from 'vitest';
import { toPath } from '../../src/core/path.ts';
import { compareWritten, writtenLeaves } from '../../src/diff/compare.ts';
import { agent } from '../../src/kinds/agent.ts';
import { digestLive } from '../../src/plan/basis.ts';
import { desiredResource, HARBOR, world } from '../world.ts';
import { compares, findingsOf, partially } from './rows.ts';

const MAP = { mon: ['09:00'], tue: { from: '10:00' } };
const SECRET = { $secret: 'env:TOKEN' };
const sms = (members: object) => ({ integrations: { smsProvider: { ...members } } });

describe('a value in the place of an object, or an object in that of a value, is one change', () => {
  compares([
    {
      title: 'of a list that becomes an object',
      applied: { config: { hours: ['09:00'] } },
      desired: { config: { hours: MAP } },
      live: { config: { hours: ['09:00'] } },
      finds: { 'config.hours': 'changed' },
    },
    {
      title: 'of an object that becomes an empty list',
      applied: { config: { hours: MAP } },
      desired: { config: { hours: [] } },
      live: { config: { hours: MAP } },
      finds: { 'config.hours': 'changed' },
    },
    {
      title: 'of an object inside an object',
      applied: { config: { hours: MAP } },
      desired: { config: { hours: { ...MAP, tue: 'closed' } } },
      live: { config: { hours: MAP } },
      finds: { 'config.hours.tue': 'changed' },
    },
    {
      title: 'of a whole field',
      address: 'retry_policy.gentle',
      desired: { on_exhausted: 'end', on_exhausted_target: { queue: 'a' } },
      live: { on_exhausted: 'end', on_exhausted_target: 'a' },
      finds: { on_exhausted_target: 'changed' },
    },
    {
      title: 'of a value that somebody put in the place of what was written',
      applied: { config: { hours: MAP } },
      desired: { config: { hours: MAP } },
      live: { config: { hours: 'always' } },
      finds: { 'config.hours': 'drifted' },
    },
    {
      title: 'of an object that somebody put there',
      applied: { config: { hours: 'always' } },
      desired: { config: { hours: 'always' } },
      live: { config: { hours: MAP } },
      finds: { 'config.hours': 'drifted' },
    },
    {
      title: 'that is kept, where edits are',
      applied: { config: { hours: 'always' } },
      desired: { config: { hours: 'always' } },
      live: { config: { hours: MAP } },
      having: (made) => made.options({ keep_drift: true }),
      finds: { 'config.hours': 'kept' },
    },
    {
      title: 'that both sides made',
      applied: { config: { hours: 'always' } },
      desired: { config: { hours: MAP } },
      live: { config: { hours: ['09:00'] } },
      finds: { 'config.hours': 'conflict' },
    },
    {
      title: 'of what is no longer wanted, and is an object by now',
      applied: { config: { hours: 'always' } },
      desired: {},
      live: { config: { hours: MAP } },
      finds: { 'config.hours': 'conflict' },
    },
    {
      title: 'and none of what is an object on both sides by now',
      applied: { config: { hours: 'always' } },
      desired: { config: { hours: MAP } },
      live: { config: { hours: MAP } },
      finds: {},
    },
    {
      title: 'and none where a rollback takes members away of which a value has the place',
      desired: { config: { hours: { mon: null } } },
      live: { config: { hours: 'always' } },
      having: partially,
      finds: {},
    },
    {
      title: 'and none that is ignored',
      desired: { config: { hours: MAP }, lifecycle: { ignore: ['config.hours'] } },
      live: { config: { hours: 'always' } },
      finds: {},
    },
    {
      title: 'with its secrets, which cannot be live',
      applied: sms({ auth: { sid: 'a', token: SECRET } }),
      desired: sms({ auth: { sid: 'a', token: SECRET } }),
      live: sms({ auth: 'by hand' }),
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      finds: {
        'integrations.smsProvider.auth': 'drifted',
        'integrations.smsProvider.auth.token': 'drifted',
      },
    },
    {
      title: 'of a secret that an object displaces',
      applied: sms({ auth: SECRET }),
      desired: sms({ auth: { sid: 'a' } }),
      live: sms({}),
      having: (made) => made.secrets({ 'env:TOKEN': 'canary' }),
      finds: { 'integrations.smsProvider.auth': 'changed' },
    },
    {
      title: 'of a field that the platform does not return',
      applied: { brandNew: { hours: 'always' } },
      desired: { brandNew: { hours: MAP } },
      live: {},
      finds: { 'brandNew.hours': 'changed' },
    },
    {
      title: 'of an object in such a field that is to be nothing',
      applied: { brandNew: { hours: MAP } },
      desired: { brandNew: { hours: null } },
      live: {},
      finds: { 'brandNew.hours': 'changed' },
    },
  ]);
});

test('it has all that goes and all that comes, and what both sides came from', async () => {
  const [change] = await findingsOf({
    title: '',
    applied: { config: { hours: MAP } },
    desired: { config: { hours: ['09:00'] } },
    live: { config: { hours: { ...MAP, wed: '11:00' } } },
    finds: {},
  });
  expect(change).toMatchObject({
    text: 'config.hours',
    before: { ...MAP, wed: '11:00' },
    after: ['09:00'],
    base: MAP,
  });
});

test('it writes each leaf of the object that comes', () => {
  const change = { path: toPath('config.hours'), text: 'config.hours' };
  expect(writtenLeaves(agent.schema, { ...change, after: MAP })).toEqual([
    'config.hours',
    'config.hours.mon',
    'config.hours.tue.from',
  ]);
  expect(writtenLeaves(agent.schema, { ...change, after: ['09:00'] })).toEqual(['config.hours']);
});

test.each([
  ['a value', { hours: MAP }, { hours: 'by hand' }],
  ['an object', { hours: 'always' }, { hours: { wed: '11:00' } }],
])('a delete shows %s that somebody put in the place of what was written', (_, was, is) => {
  const made = world().applied({ 'agent.desk': { id: 'id-1', name: 'Desk', config: was } });
  const leaves = made.state().resources['agent.desk']?.leaves ?? {};
  const live = { name: 'Desk', organization_id: HARBOR, config: is };
  const found = compareWritten(agent.schema, live, leaves, 'agent.desk', made.given());
  expect(found).toMatchObject([{ text: 'config.hours', before: is.hours, base: was.hours }]);
  expect(found).toHaveLength(1);
});

test.each([
  ['a value', { hours: MAP }, 'always', 'never'],
  ['an object', { hours: 'always' }, { wed: '11:00' }, { wed: '12:00' }],
])('a plan rests on %s that it displaces', (_, wanted, before, after) => {
  const desired = desiredResource('agent.desk', { name: 'Desk', config: wanted });
  const change = { operations: [{ step: 'update' as const, fields: ['config'] }] };
  const [one, other] = [before, after].map((hours) =>
    digestLive(
      change,
      agent,
      { desired, recorded: undefined },
      { document: { name: 'Desk', config: { hours } } },
    ),
  );
  expect(one).not.toEqual(other);
});

test('what a value displaces, or an object, shows no secret that is in it', async () => {
  const given = sms({ auth: { foo: SECRET, sid: SECRET } });
  const masked = { foo: '(secret)', sid: '(secret)' };
  const made = world()
    .secrets({ 'env:TOKEN': 'canary' })
    .live({
      agent: [{ id: 'id-1', name: 'Desk', ...sms({ auth: { foo: 'canary', sid: 'canary' } }) }],
    })
    .applied({ 'agent.desk': { id: 'id-1', name: 'Desk', ...given } });
  const gone = await made
    .desired({ 'agent.desk': { name: 'Desk', ...sms({ auth: 'x' }) } })
    .changes();
  expect(gone.get('agent.desk')?.fields).toMatchObject([
    { path: 'integrations.smsProvider.auth', before: masked },
  ]);
  const back = await made
    .live({ agent: [{ id: 'id-1', name: 'Desk', ...sms({ auth: 'canary' }) }] })
    .desired({ 'agent.desk': { name: 'Desk', ...given } })
    .changes();
  expect(back.get('agent.desk')?.fields).toMatchObject([
    { before: '(secret)', after: { foo: SECRET, sid: SECRET } },
    { path: 'integrations.smsProvider.auth.foo', after: SECRET },
    { path: 'integrations.smsProvider.auth.sid', after: SECRET },
  ]);
  expect(JSON.stringify([...gone, ...back])).not.toContain('canary');
});
