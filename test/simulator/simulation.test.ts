import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CallsheetError } from '../../src/core/errors.ts';
import { readDialectFlags, readSimulation } from '../../src/simulator/index.ts';
import { IDS } from './world.ts';

describe('a file', () => {
  test('may say all of it', () => {
    const simulation = readSimulation(`
      seed: seed.yaml
      dialect: { merge: shallow, absent: [listRetryPolicies] }
      faults:
        - { operation: updateAgent, status: 503, skip: 2 }
        - { operation: '*', reset: after, probability: 0.1 }
      chaosSeed: tuesday
      rateLimit: { perSecond: 20, burst: 40, retryAfter: false }
      latencyMs: 15
      callers: { perDay: 12, weeks: 3, seed: 4 }
    `);
    expect(simulation).toEqual({
      seed: 'seed.yaml',
      dialect: { merge: 'shallow', absent: ['listRetryPolicies'] },
      faults: [
        { operation: 'updateAgent', status: 503, skip: 2 },
        { operation: '*', reset: 'after', probability: 0.1 },
      ],
      chaosSeed: 'tuesday',
      rateLimit: { perSecond: 20, burst: 40, retryAfter: false },
      latencyMs: 15,
      callers: { perDay: 12, weeks: 3, seed: 4 },
    });
  });

  test('of the documentation can be read', () => {
    const text = readFileSync(
      new URL('../../docs/reference/simulator.md', import.meta.url),
      'utf8',
    );
    const section = /## A simulation in a file\n(.*?)\n## /s.exec(text)?.[1] ?? '';
    const simulation = readSimulation(/```yaml\n(.*?)```/s.exec(section)?.[1] ?? 'faults: none');
    expect(Object.keys(simulation).length).toBeGreaterThan(4);
  });

  test('may write the value null of an option as YAML has it', () => {
    expect(readSimulation('dialect: { unset: null, inventions: null }')).toEqual({
      dialect: { unset: 'null', inventions: null },
    });
  });

  test('may be empty', () => {
    expect(readSimulation('')).toEqual({});
  });

  test('is refused with everything that is wrong with it', () => {
    const read = () =>
      readSimulation(`
        seed: { agents: [{ name: x, organization_id: ${IDS.harbor} }] }
        dialect: { merge: both, colour: blue, historyRetention: 0 }
        faults:
          - { operation: fly }
          - { status: 503 }
          - { operation: getMe, probability: 2 }
        rateLimit: { perSecond: 1, burst: 0, shape: round }
        latency: 3
        callers: { perDay: 0, weeks: many }
      `);
    expect(read).toThrow(CallsheetError);
    for (const problem of [
      /seed: agents: x names the organization/,
      /dialect: merge must be deep or shallow, not "both"/,
      /dialect: there is no option colour/,
      /dialect: historyRetention must be a whole number above 0 or null, not 0/,
      /faults.0: there is no operation fly/,
      /faults.1.operation: required/,
      /faults.2.probability: must be <= 1/,
      /rateLimit.burst: must be >= 1/,
      /rateLimit.shape: /,
      /unknown property: latency/,
      /callers.perDay: must be > 0/,
      /callers.weeks: /,
    ])
      expect(read).toThrow(problem);
  });

  test.each([
    { text: '[', says: /simulation is wrong/ },
    { text: 'just words', says: /expected object/ },
    { text: 'dialect: deep', says: /dialect/ },
    { text: 'faults: none', says: /faults/ },
    { text: 'seed: 5', says: /seed/ },
  ])('$text is refused in words', ({ text, says }) => {
    expect(() => readSimulation(text)).toThrow(says);
  });
});

describe('dialect flags', () => {
  test.each([
    { pair: 'merge=shallow', dialect: { merge: 'shallow' } },
    { pair: 'listUpdatedAt=false', dialect: { listUpdatedAt: false } },
    { pair: 'createdStatus=200', dialect: { createdStatus: 200 } },
    { pair: 'historyLagMs=250', dialect: { historyLagMs: 250 } },
    { pair: 'historyRetention=null', dialect: { historyRetention: null } },
    {
      pair: 'absent=getEmailTemplate,listSmsTemplates',
      dialect: { absent: ['getEmailTemplate', 'listSmsTemplates'] },
    },
    { pair: 'absent=', dialect: { absent: [] } },
    { pair: 'emptyText=null', dialect: { emptyText: 'null' } },
  ])('$pair', ({ pair, dialect }) => {
    expect(readDialectFlags([pair])).toEqual({ dialect, problems: [] });
  });

  test('of one that is named twice the last counts', () => {
    expect(readDialectFlags(['merge=shallow', 'merge=deep']).dialect).toEqual({ merge: 'deep' });
  });

  test('everything that is wrong is named', () => {
    expect(
      readDialectFlags(['merge', 'nulls=maybe', 'colour=blue', 'absent=fly', 'historyLagMs=-1'])
        .problems,
    ).toEqual([
      'merge must be name=value',
      'nulls must be clears or rejected, not "maybe"',
      'there is no option colour',
      'absent must be names of operations, not ["fly"]',
      'historyLagMs must be a whole number, not -1',
    ]);
  });
});
