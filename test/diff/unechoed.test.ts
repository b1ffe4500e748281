import { describe, expect, test } from 'vitest';
import { compares, findingsOf } from './rows.ts';

const LONG = 'Answer the phone. '.repeat(10);
const TOKEN = { $secret: 'env:TOKEN' };

/** A field under `unchecked` that the platform accepts and, as far as is known, does not return. */
describe('a field that is newer than the schema and not returned', () => {
  compares([
    {
      title: 'is equal where it was written last',
      applied: { bargeInMode: 'polite' },
      desired: { bargeInMode: 'polite' },
      live: {},
      finds: {},
    },
    {
      title: 'is changed where something else was written last',
      applied: { bargeInMode: 'firm' },
      desired: { bargeInMode: 'polite' },
      live: {},
      finds: { bargeInMode: 'changed' },
    },
    {
      title: 'is changed where the configuration has it only now',
      applied: {},
      desired: { bargeInMode: 'polite' },
      live: {},
      finds: { bargeInMode: 'changed' },
    },
    {
      title: 'is nothing where the configuration has it only now and wants it empty',
      applied: {},
      desired: { bargeInMode: null },
      live: {},
      finds: {},
    },
    {
      title: 'is changed where it is to be empty and was not',
      applied: { bargeInMode: 'firm' },
      desired: { bargeInMode: null },
      live: {},
      finds: { bargeInMode: 'changed' },
    },
    {
      title: 'is unknown without state',
      desired: { bargeInMode: 'polite' },
      live: {},
      finds: { bargeInMode: 'unknown_content' },
    },
    {
      title: 'is unknown without state where it is to be empty',
      desired: { bargeInMode: null },
      live: {},
      finds: { bargeInMode: 'unknown_content' },
    },
    {
      title: 'is compared like any other once the platform returns it',
      applied: { bargeInMode: 'polite' },
      desired: { bargeInMode: 'polite' },
      live: { bargeInMode: 'firm' },
      finds: { bargeInMode: 'drifted' },
    },
    {
      title: 'is equal where it refers to the resource that it was written with',
      applied: { bargeInAgent: { $ref: 'agent.desk' } },
      desired: { bargeInAgent: { $ref: 'agent.desk' } },
      live: {},
      finds: {},
    },
    {
      title: 'is changed where it refers to a resource that does not exist yet',
      applied: { bargeInAgent: 'a-1' },
      desired: { bargeInAgent: { $ref: 'agent.unborn' } },
      live: {},
      finds: { bargeInAgent: 'changed' },
    },
  ]);

  test('says what was written last, and that nobody sees what is there', async () => {
    const applied = { bargeInMode: 'firm' };
    const [found] = await findingsOf({
      title: '',
      applied,
      desired: { bargeInMode: 'polite' },
      live: {},
      finds: {},
    });
    expect(found).toMatchObject({ before: 'firm', after: 'polite', unreadable: true });
  });

  test('has nothing before where the state knows a digest only, or nothing', async () => {
    const row = { title: '', desired: { bargeInMode: 'polite' }, live: {}, finds: {} };
    for (const applied of [{ bargeInMode: LONG }, {}]) {
      const [found] = await findingsOf({ ...row, applied });
      expect(found).toMatchObject({ before: undefined, after: 'polite', cause: 'changed' });
    }
  });
});

describe('a secret in such a field', () => {
  const SECRET = { bargeInToken: TOKEN };
  compares([
    {
      title: 'is equal where it was written last',
      applied: SECRET,
      desired: SECRET,
      live: {},
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }),
      finds: {},
    },
    {
      title: 'is sent where it is another one',
      applied: SECRET,
      desired: SECRET,
      live: {},
      having: (world) => world.secrets({ 'env:TOKEN': 'two' }, { 'env:TOKEN': 'one' }),
      finds: { bargeInToken: 'secret_changed' },
    },
    {
      title: 'is sent where the configuration has it only now',
      applied: {},
      desired: SECRET,
      live: {},
      finds: { bargeInToken: 'changed' },
    },
    {
      title: 'is sent again where that is asked for',
      applied: SECRET,
      desired: SECRET,
      live: {},
      having: (world) => world.secrets({ 'env:TOKEN': 'one' }).options({ resend_secrets: true }),
      finds: { bargeInToken: 'secret_resent' },
    },
    {
      title: 'is sent where it has another source, at hand or not',
      applied: SECRET,
      desired: { bargeInToken: { $secret: 'env:OTHER' } },
      live: {},
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { bargeInToken: 'secret_source_changed' },
    },
    {
      title: 'is unknown where it is not at hand',
      applied: SECRET,
      desired: SECRET,
      live: {},
      having: (world) => world.secrets({}, { 'env:TOKEN': 'one' }),
      finds: { bargeInToken: 'unknown_secret' },
    },
  ]);

  test('is hidden, and nobody sees what is there', async () => {
    const row = { title: '', applied: {}, desired: SECRET, live: {}, finds: {} };
    const [found] = await findingsOf(row);
    expect(found).toMatchObject({ before: undefined, sensitive: true, unreadable: true });
  });
});
