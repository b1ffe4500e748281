import { Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { ALLOWANCES, listJobFlags } from '../../src/console/flags.ts';
import { CallsheetError } from '../../src/core/errors.ts';
import { allowanceFlags } from '../../src/core/plan-document.ts';
import { checkChosen } from '../../src/kinds/index.ts';
import { planOptions } from '../../src/run/plan.ts';
import { parseVars } from '../../src/run/stack.ts';

describe('--var', () => {
  test.each([
    [[], {}],
    [['a=b'], { a: 'b' }],
    [['a=b=c'], { a: 'b=c' }],
    [['a='], { a: '' }],
    [['a=1', 'b=2', 'a=3'], { a: '3', b: '2' }],
  ])('%j', (given, vars) => {
    expect(parseVars(given)).toEqual(vars);
  });

  test.each(['a', '', '=b'])('%j is not of the form name=value', (given) => {
    expect(() => parseVars([given])).toThrow(CallsheetError);
  });
});

describe('--target, --exclude and --resend-secrets name what there is', () => {
  const known = ['agent.desk', 'agent.clinic["harbor"]', 'knowledge_source.clinic.faq'];
  const flags = { dir: '.' };

  test.each([
    {},
    { target: ['agent.desk'] },
    { target: ['agent.clinic', 'knowledge_source.clinic'] },
    { exclude: ['agent'] },
    // A kind may be left out or chosen whether the stack has any of it or not.
    { exclude: ['custom_voice'] },
    { resendSecrets: true },
    { resendSecrets: ['agent.desk'] },
  ])('%j', (chosen) => {
    expect(() => checkChosen(planOptions({ ...flags, ...chosen }), known)).not.toThrow();
  });

  test.each([
    [
      { target: ['agent.dask'] },
      '--target agent.dask matches no resource',
      'Did you mean agent.desk?',
    ],
    [{ target: ['agent.desk', 'agents'] }, '--target agents matches no resource', undefined],
    [{ exclude: ['agent.des'] }, '--exclude agent.des matches no resource', undefined],
    [{ resendSecrets: ['agent.x'] }, '--resend-secrets agent.x matches no resource', undefined],
  ])('%j', (chosen, message, hint) => {
    let thrown: unknown;
    try {
      checkChosen(planOptions({ ...flags, ...chosen }), known);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
    if (hint !== undefined) expect(thrown).toMatchObject({ hint });
  });
});

describe('what a plan may do', () => {
  test('is nothing but what every plan does, unless a flag allows it', () => {
    expect(planOptions({ allowDelete: false, releaseHold: false })).toEqual({
      allow_delete: false,
      accept_conflicts: false,
      skip_refused: false,
      resend_secrets: false,
      target: [],
      exclude: [],
      force: false,
    });
  });

  test.each(ALLOWANCES)('$spelling is recorded, and goes to workers', ({ spelling }) => {
    const option = new Option(spelling);
    const name = option.attributeName();
    const [value, typed] = option.variadic
      ? [['agent.desk'], ' agent.desk']
      : option.required
        ? ['why', ' why']
        : [true, ''];
    expect(allowanceFlags(planOptions({ [name]: value }))).toEqual([`${option.long}${typed}`]);
    expect([...listJobFlags('plan').keys()]).toContain(name);
  });
});
