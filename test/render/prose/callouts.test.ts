import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Callout } from '../../../src/core/plan-document.ts';
import { calloutWords } from '../../../src/render/prose/callout-words.ts';
import { createCalloutFinder, findCallouts } from '../../../src/render/prose/callouts.ts';

type Edit = { readonly name: string; readonly edit: string; readonly tell: readonly string[] };

const FILE = new URL('./callouts.corpus.yaml', import.meta.url);
const edits: readonly Edit[] = parse(readFileSync(FILE, 'utf8'));

/** Of what is told, so much has to be wanted; of what is wanted, so much has to be told. */
const LEAST = { precision: 0.9, recall: 0.9 };

function textsOf(edit: string): readonly [before: string, after: string] {
  const removed = /\[-(.*?)-\]/gsu;
  const added = /\{\+(.*?)\+\}/gsu;
  return [
    edit.replace(added, '').replace(removed, '$1'),
    edit.replace(removed, '').replace(added, '$1'),
  ];
}

const INSTRUCTIONS: readonly Callout['sort'][] = [
  'reversed',
  'removed',
  'added',
  'changed',
  'moved',
];

function wordsOf({ sort, before, after }: Callout): string {
  const sides = [before, after].filter((text) => text !== null);
  if (sort === 'moved') return `instruction moved: ${after}`;
  if (INSTRUCTIONS.includes(sort)) return `instruction ${sort}: ${sides.join(' → ')}`;
  const to = sort === 'transfer' ? 'transfer to ' : '';
  if (before === null) return `new: ${to}${after}`;
  if (after === null) return `gone: ${to}${before}`;
  return before === after ? `moved: ${after}` : `${to}${before} → ${after}`;
}

test('call-outs say what a reviewer wants to be told of the corpus', () => {
  const misses: string[] = [];
  let [right, wrong, missed] = [0, 0, 0];
  for (const { name, edit, tell } of edits) {
    const told = findCallouts(...textsOf(edit)).map(wordsOf);
    const waiting = [...tell];
    for (const one of told) {
      const at = waiting.indexOf(one);
      if (at >= 0) waiting.splice(at, 1);
      else misses.push(`${name}: told ${one}`);
      if (at >= 0) right += 1;
      else wrong += 1;
    }
    missed += waiting.length;
    misses.push(...waiting.map((one) => `${name}: not told ${one}`));
  }
  const precision = right / (right + wrong);
  const recall = right / (right + missed);
  const figures = `${edits.length} edits: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`;
  process.stdout.write(`${[figures, ...misses].join('\n  ')}\n`);
  expect(precision, misses.join('\n')).toBeGreaterThanOrEqual(LEAST.precision);
  expect(recall, misses.join('\n')).toBeGreaterThanOrEqual(LEAST.recall);
});

describe('a call-out', () => {
  test.each<[string, string, string, readonly (readonly (string | null)[])[]]>([
    [
      'a token',
      'Hi {{name}}, welcome',
      'Hi {{first}}, welcome',
      [['token', '{{name}}', '{{first}}']],
    ],
    ['a token that is gone', 'Hi {{name}}, welcome', 'Hi, welcome', [['token', '{{name}}', null]]],
    [
      'a tool',
      'Use crm_lookup at first',
      'Use crm_search at first',
      [['tool', 'crm_lookup', 'crm_search']],
    ],
    [
      'a tool in backticks',
      'Use `lookup` at first',
      'Use `search` at first',
      [['tool', 'lookup', 'search']],
    ],
    [
      'a number',
      'Wait 30 minutes for it',
      'Wait 45 minutes for it',
      [['number', '30 minutes', '45 minutes']],
    ],
    [
      'a price',
      'It costs $1,200.50 a year',
      'It costs $1,300 a year',
      [['number', '$1,200.50 a year', '$1,300 a year']],
    ],
    [
      'a time of day',
      'We open at 9:30 today',
      'We open at 10am today',
      [['number', '9:30', '10am']],
    ],
    [
      'a number in words',
      'Offer two times',
      'Offer three times',
      [['number', 'two times', 'three times']],
    ],
    [
      'a phone number',
      'Call 555-0100 for it',
      'Call 555-0199 for it',
      [['phone', '555-0100', '555-0199']],
    ],
    ['nothing where words only moved on', 'We never do it', 'We really never do it', []],
    ['nothing of a negation in other letters', 'Never do it here', 'never do it there', []],
  ])('%s', (_, before, after, calls) => {
    const callouts = findCallouts(before, after);
    expect(callouts.map((one) => [one.sort, one.before, one.after])).toEqual(calls);
  });

  test.each<[Callout['sort'], string, string, string]>([
    ['reversed', 'do, do not', 'Do quote a price', 'Do not quote a price'],
    ['reversed', 'do not, do', 'You do not quote a price', 'You do quote a price'],
    ['reversed', "do, don't", 'We do quote a price', "We don't quote a price"],
    ['reversed', 'may, must not', 'You may quote a price', 'You must not quote a price'],
    ['reversed', 'never, always', 'You never quote prices', 'You always quote prices'],
    ['reversed', 'nunca, siempre', 'Siempre diga el precio', 'Nunca diga el precio'],
    ['reversed', 'accept, decline', 'Accept cash from guests', 'Decline cash from guests'],
    ['reversed', 'who, not who', 'The vet says so, not you', 'You say so, not the vet'],
    ['reversed', 'what a list is', 'You may:\n- wave fees', 'You must not:\n- wave fees'],
    ['changed', 'must, should', 'You must quote a price', 'You should quote a price'],
    ['changed', 'before, after', 'Ask before you pay out', 'Ask after you pay out'],
    ['changed', 'and, or', 'Ask for name and age', 'Ask for name or age'],
    ['changed', 'if, unless', 'Book it if they paid', 'Book it unless they paid'],
  ])('is %s: %s', (sort, _, before, after) => {
    expect(findCallouts(before, after)).toMatchObject([{ sort }]);
  });

  test.each<[string, string]>([
    [
      'Never end a call without asking for the name.',
      'Always ask for the name before you end a call.',
    ],
    ['Do not look it up unless they gave the number.', 'Only look it up if they gave the number.'],
    ['Do not accept more than 8 guests.', 'Accept at most 8 guests.'],
    ['Do not pay before they sign.', 'Only pay after they sign.'],
    ['It takes half an hour, Monday to Friday.', 'It takes 30 minutes on weekdays.'],
    ['From June 1 to August 31, 9 am–5 pm.', '1 June to 31 August, from 9:00 to 17:00.'],
    ['Clinic 1 takes Visa.', 'Visa is taken at Clinic 1.'],
  ])('is none of what comes to the same: %s', (before, after) => {
    expect(findCallouts(before, after)).toEqual([]);
  });

  test.each<[string, string, string, readonly [lead: string, before: string, after: string]]>([
    [
      'changed, to the words around the change',
      'Whoever is on the phone and however long it takes, you can tell callers what the dentist found in the mouth of a patient, and when.',
      'Whoever is on the phone and however long it takes, you cannot tell callers what the dentist found in the mouth of a patient, and when.',
      [
        'rule reversed:',
        '"… long it takes, you can tell callers what the …"',
        '"… long it takes, you cannot tell callers what the …"',
      ],
    ],
  ])('a long sentence is cut: %s', (_, before, after, words) => {
    const [lead, old, fresh] = words;
    const told = findCallouts(before, after).map(calloutWords);
    expect(told).toEqual([{ lead, before: old, after: fresh, isSentence: true }]);
  });

  test('the number of an item is no number that counts', () => {
    const before = '1. Ask for the name.\n2. Wait 20 seconds.';
    const callouts = findCallouts(before, '- Ask for the name.\n3. Wait 30 seconds.');
    expect(callouts).toMatchObject([{ sort: 'number', before: '20 seconds', after: '30 seconds' }]);
    expect(callouts).toHaveLength(1);
  });

  test('a name that goes here and comes there has moved', () => {
    const before = 'Look the patient up with crm_lookup, then transfer.\n\nBe kind.\n\nGood bye.';
    const after = 'Be kind.\n\nGood bye.\n\nEvery record of the clinic stands behind crm_lookup.';
    expect(findCallouts(before, after)).toMatchObject([
      { sort: 'removed', line: 1 },
      { sort: 'tool', before: 'crm_lookup', after: 'crm_lookup', line: 5 },
    ]);
  });

  test('says where it is, once for all of its places', () => {
    const before =
      '# Desk\n\nHi {{a}}, hello.\n\n## Hours\n\nOpen today.\nAt nine o’clock {{a}} calls.';
    const callouts = findCallouts(before, before.replaceAll('{{a}}', '{{b}}'));
    expect(callouts).toEqual([
      {
        sort: 'token',
        before: '{{a}}',
        after: '{{b}}',
        times: 2,
        heading: 'Desk',
        line: 3,
      },
    ]);
  });

  test('of a whole new instruction names what must exist, not each of its numbers', () => {
    const callouts = findCallouts('a', 'a\n\nNever wait 30 seconds for {{name}} or crm_lookup.');
    expect(callouts.map(({ sort, line }) => [sort, line])).toEqual([
      ['added', 3],
      ['token', 3],
      ['tool', 3],
    ]);
  });

  test('of what moved is none', () => {
    const old = [
      'Never wait 30 seconds.',
      'Ask for the name of the caller.',
      'Book the visit now.',
    ].join('\n\n');
    const fresh = [
      'Ask for the name of the caller.',
      'Book the visit now.',
      'Never wait 30 seconds.',
    ].join('\n\n');
    expect(findCallouts(old, fresh)).toEqual([]);
  });
});

test('equal edits are found at the line and below the heading where each stands', () => {
  const find = createCalloutFinder();
  const prompt = (above: string, hours: number) =>
    `${above}# Fees\n\nLate visits cost extra.\nCancel ${hours} hours before.\n`;
  for (const above of ['', '# Hours\n\nOpen at 9.\n\n']) {
    const line = above === '' ? 4 : 8;
    expect(find(prompt(above, 24), prompt(above, 48))).toEqual([
      { sort: 'number', before: '24 hours', after: '48 hours', heading: 'Fees', line, times: 1 },
    ]);
  }
});

test('a name that stayed in its paragraph is told as moved in neither direction', () => {
  const name = '{{first_name|there}}';
  const before = `${name} ${name}\nhours. ${name} you you price,\n${name} 你好世界\n`;
  const after = `you 你好世界 ${name}\n${name} hours. ${name}\n`;
  const tokens = (all: readonly Callout[]) =>
    all.filter(({ sort }) => sort === 'token').map(wordsOf);
  expect(tokens(findCallouts(before, after))).toEqual([`gone: ${name}`]);
  expect(tokens(findCallouts(after, before))).toEqual([`new: ${name}`]);
});
