import { formatLabel, nameInWords } from '../core/address.ts';
import { codeSpan, commandLine, commandSpan, quoted } from '../core/command-line.ts';
import { clip, formatFirst } from '../core/errors.ts';
import { identityText, isIdentity, parsePath } from '../core/path.ts';
import {
  type Change,
  type FieldChange,
  findFreezeAlone,
  holdingFlags,
  isChanging,
  isOnBase,
  isSecretMoved,
  type KeptEdits,
  liftingFlags,
  type Note,
  type PlanDocument,
  type Rehearsal,
  type RehearsalDifference,
  type RehearsalStep,
  type SecretTravel,
  type Verdict,
} from '../core/plan-document.ts';
import { getOwn, type Json } from '../core/value.ts';
import { listNames, type Names, shownName, withNames } from './names.ts';

import { inlineValue, isMultiline, shortSides } from './value-text.ts';
import { baseName, formatCount, formatNumber, leaveOutCommand, sharedMessage } from './wording.ts';

/** Something that is said beside the changes. No text in it is sanitised yet. */
export type Footer = {
  readonly weight: 'error' | 'warning' | 'info';
  readonly title: string;
  readonly items: readonly FooterItem[];
  /** The next step, and the command for it. */
  readonly advice: string | null;
  /** True if all items are shown, however many there are. */
  readonly isWhole?: boolean;
  /** Ways on, each with the command that goes there. */
  readonly ways?: readonly { readonly does: string; readonly command: string }[];
};

/** A sentence about one resource, several, or the plan. */
type FooterItem = {
  readonly address: string | null;
  /** The name of the resource; absent where it has none. */
  readonly name?: string;
  readonly text: string;
};

/**
 * Returns the footers that are read before the changes: what stands in the way of the plan, and secrets that go
 * somewhere new.
 */
export function footersAbove(plan: PlanDocument): readonly Footer[] {
  return nameFooters(plan, [
    ...refusalFooter(plan),
    ...verdictFooter(plan, 'refused'),
    ...secretsFooter(plan).filter(isUrgent),
  ]);
}

/** Returns the footers below the changes; `isWhole`: also the notes that the state remembers. */
export function footersBelow(plan: PlanDocument, isWhole = false): readonly Footer[] {
  const notes = isWhole ? plan.notes : plan.notes.filter(({ known }) => known !== true);
  return nameFooters(plan, [
    ...secretsFooter(plan).filter((footer) => !isUrgent(footer)),
    ...refusedOnBaseFooter(plan),
    ...keptFooter(plan),
    ...revertFooter(plan),
    ...verdictFooter(plan, 'held'),
    ...verdictFooter(plan, 'unsupported'),
    ...settledFooter(plan),
    ...noteFooter(notes, 'warning'),
    ...noteFooter(notes, 'info'),
    ...rehearsalFooters(plan),
    ...conflictFooter(plan),
  ]);
}

/** Tells a conflict that waits for a decision, which is read beside its change and settled by a way on below all. */
function isUndecided({ verdict, lifted_by: lift, refused_on_base: isKnown }: Change): boolean {
  return verdict === 'refused' && lift === 'accept_conflicts' && isKnown !== true;
}

/** How conflicts are settled. */
function conflictFooter(plan: PlanDocument): readonly RawFooter[] {
  const { changes, environment: env, options, purpose } = plan;
  const conflicts = changes.filter(isUndecided);
  if (purpose !== 'apply' || conflicts.length === 0) return [];
  const addresses = conflicts.map(({ address }) => quoted(address));
  const named = addresses.length > MOST_PULLED ? [] : addresses;
  const way = (does: string, command: string) => ({
    does,
    command: commandLine(command, { dir: '.', env }),
  });
  const pull = (...flags: readonly string[]) => ['pull', ...named, ...flags].join(' ');
  const open = conflicts.flatMap(({ fields }) =>
    fields.filter(({ cause, secret }) => cause === 'conflict' && !secret),
  );
  const [unknown, known] = [open.filter(isBaseLost), open.filter((field) => !isBaseLost(field))];
  const isMore = changes.some((change) => !isUndecided(change) && isChanging(change));
  const isAll = changes.every((change) => change.verdict !== 'refused' || isUndecided(change));
  const ways = [
    ...(known.some(isText)
      ? [
          way(
            'Take the platform’s edits into the files where they touch none of yours',
            pull('--merge'),
          ),
        ]
      : []),
    ...(known.length > 0
      ? [
          way(
            'Take them where both changed, too, and keep the rest of yours',
            pull('--merge', '--theirs'),
          ),
        ]
      : []),
    ...(unknown.length > 0
      ? [way('Take all that is live: what was last applied is not known', pull('--theirs'))]
      : []),
    way(
      'Write the files over the platform, whose edits stay in its history',
      'plan --accept-conflicts',
    ),
    ...(isAll && isMore && !options.skip_refused
      ? [{ does: 'Leave them for later, and apply the rest', command: leaveOutCommand(plan) }]
      : []),
  ];
  return [{ weight: 'error', title: 'To settle the conflicts:', items: [], advice: null, ways }];
}

function isText({ before, after }: FieldChange): boolean {
  return typeof before === 'string' && typeof after === 'string';
}

/** Returns true for a text whose last written version was not kept, so that there is no base to merge with. */
function isBaseLost(field: FieldChange): boolean {
  return field.base === undefined && isText(field) && [field.before, field.after].some(isMultiline);
}

/** Addresses that a command names; more than these are all that there are. */
const MOST_PULLED = 10;

/** Lists, beside drift, deleted resources that are live, unready and unread resources, and older versions. */
export function driftFooters(plan: PlanDocument): readonly Footer[] {
  const notes = plan.notes.filter(({ returned, unready, older_versions: older, unread }) =>
    [returned, unready, older, unread].some((fact) => fact !== undefined),
  );
  return nameFooters(plan, [...noteFooter(notes, 'warning'), ...noteFooter(notes, 'info')]);
}

/** Puts the names of resources before their addresses, and says once what is said alike of several. */
function nameFooters(plan: PlanDocument, footers: readonly RawFooter[]): readonly Footer[] {
  const names = listNames(plan);
  return footers.map(({ isSaidOnce = false, ...footer }) => ({
    ...footer,
    items: (isSaidOnce ? sayOnce(footer.items, names) : footer.items).map((item) =>
      nameItem(item, names),
    ),
    advice: footer.advice === null ? null : withNames(footer.advice, names),
  }));
}

/** `isSaidOnce`: several items may say the same. */
type RawFooter = Footer & { readonly isSaidOnce?: boolean };

function nameItem({ address, text }: FooterItem, names: Names): FooterItem {
  const name = address === null ? undefined : getOwn(names, address);
  return {
    address,
    ...(name === undefined ? {} : { name: shownName(name) }),
    text: withNames(text, names, address),
  };
}

function isUrgent({ weight }: Footer): boolean {
  return weight !== 'info';
}

/** Every secret that goes out, those first that go somewhere new: what follows one is how it is stolen. */
function secretsFooter({ changes, purpose }: PlanDocument): readonly RawFooter[] {
  if (purpose === 'drift' || purpose === 'comparison') return [];
  const sent = changes.flatMap(({ address, secrets = [] }) =>
    secrets.map((travel) => ({ address, travel })),
  );
  if (sent.length === 0) return [];
  const isNew = ({ travel }: (typeof sent)[number]) => isSecretMoved(travel);
  const ordered = [...sent.filter(isNew), ...sent.filter((one) => !isNew(one))];
  return [
    {
      weight: sent.some(isNew) ? 'warning' : 'info',
      title: 'Secrets, and where they go:',
      items: ordered.map(({ address, travel }) => ({ address, text: secretMessage(travel) })),
      isSaidOnce: true,
      advice: null,
      isWhole: true,
    },
  ];
}

/** `secret env:CRM_KEY → crm.example.test (was old.example.test)` */
function secretMessage(travel: SecretTravel): string {
  const { path, source, to, before, another_source: isOther, restorable, shared_with = 0 } = travel;
  const what = source === null ? `stored secret ${secretName(path)}` : `secret ${source}`;
  if (to === null) {
    const way = restorable
      ? 'a rollback can restore it only with CALLSHEET_FINGERPRINT_KEY'
      : 'a rollback cannot restore it';
    return `${what} is removed; ${way}`;
  }
  const was = before === null || before === to ? '' : ` (was ${before})`;
  const from = isOther === true ? '; another source than last applied' : '';
  const others = shared_with === 0 ? '' : `; ${sharedMessage(shared_with)}`;
  return `${what} → ${to}${was}${from}${others}`;
}

/** `Authorization of crm`: the secret at `extensions.tools[crm].headers[Authorization].value`, as people call it. */
function secretName(text: string): string {
  const path = parsePath(text) ?? [text];
  const own = path.at(-1) === 'value' && isIdentity(path.at(-2) ?? '') ? -2 : -1;
  const above = path.slice(0, own);
  const of = above.findLast(isIdentity) ?? above.at(-1);
  const words = (segment: string) => (isIdentity(segment) ? identityText(segment) : segment);
  return [path.at(own) ?? text, ...(of === undefined ? [] : [of])].map(words).join(' of ');
}

/** Lists edits that stay, since they explain why the platform differs from the files. */
function keptFooter({ kept = [], environment: env }: PlanDocument): readonly RawFooter[] {
  if (kept.length === 0) return [];
  const typed = (command: string) => commandSpan(command, { dir: '.', env });
  const count = kept.reduce((sum, { fields }) => sum + fields.length, 0);
  const addresses = kept.map(({ address }) => quoted(address));
  const pull = ['pull', ...(addresses.length > MOST_NAMED ? [] : addresses)].join(' ');
  return [
    {
      weight: 'info',
      title: `Kept: ${formatCount(count, 'edit')} made outside Callsheet.`,
      items: kept.flatMap(({ address, fields }) =>
        fields.map((field) => ({ address, text: keptMessage(field) })),
      ),
      advice: `To take them into the files: ${typed(pull)}. To undo them: ${typed('plan --undo-drift')}.`,
      isWhole: true,
    },
  ];
}

/** Footers of a plan that was reviewed, which are shown again when it is applied: they are of that moment. */
export function appliedFooters(plan: PlanDocument): readonly Footer[] {
  return nameFooters(plan, [...keptFooter(plan), ...rehearsalFooters(plan)]);
}

/** A rollback leaves the files as they are. */
function revertFooter({ revert }: PlanDocument): readonly Footer[] {
  if (!revert) return [];
  const items = [{ address: null, text: revertMessage(revert) }];
  return [{ weight: 'info', title: 'In Git:', items, advice: null }];
}

/** ``main still has this change: `git revert -m 1 …` `` */
export function revertMessage({
  command,
  pull_request: pull,
}: NonNullable<PlanDocument['revert']>): string {
  const of = pull === undefined ? '' : ` (${pull})`;
  return `main still has this change${of}: ${codeSpan(command)}`;
}

/** `greeting_message "Hello" → "Hi" (last by user:mina at …)` */
function keptMessage({ path, before, after, secret, by }: KeptEdits['fields'][number]): string {
  if (secret || before === null || after === null)
    return `${path} ${shortly(before)} → ${shortly(after)} (${by})`;
  const sides = shortSides(before, after, LONGEST);
  const unseen = sides.unseen.map((text) => `; ${text}`).join('');
  return `${path} ${sides.before} → ${sides.after} (${by})${unseen}`;
}

/** The effect of a refusal. */
const RUNNER: { readonly [purpose: string]: string } = {
  rollback: 'this rollback is not run',
  restore: 'nothing is restored',
};

function refusalFooter(plan: PlanDocument): readonly Footer[] {
  const { refusals: all = [], purpose } = plan;
  const refusals = all.filter(({ guard, origin }) => origin !== 'base' || guard === 'freeze');
  if (refusals.length === 0) return [];
  const what = RUNNER[purpose] ?? 'apply does not run this plan';
  const freeze = findFreezeAlone(plan);
  const ends = freeze?.ends ? ` until ${freeze.ends}` : '';
  return [
    {
      weight: freeze === undefined ? 'error' : 'warning',
      title: freeze === undefined ? `Refused: ${what} now.` : `Frozen${ends}: ${what} meanwhile.`,
      items: refusals.map(({ message }) => ({ address: null, text: message })),
      advice: [...new Set(refusals.map(({ advice }) => advice))].join(' '),
    },
  ];
}

function verdictFooter(plan: PlanDocument, verdict: Exclude<Verdict, 'ok'>): readonly RawFooter[] {
  const { changes, options, purpose } = plan;
  // Changes that wait on the base are explained beside them, and those refused there have a footer of their own.
  const struck = changes.filter(
    (change) =>
      change.verdict === verdict &&
      (verdict === 'refused' ? change.refused_on_base !== true : !isOnBase(change)),
  );
  // If all are conflicts, each change says why, and the ways on stand below all.
  const isSettledBelow =
    purpose === 'apply' && !options.skip_refused && struck.every((one) => isUndecided(one));
  if (struck.length === 0 || isSettledBelow) return [];
  const count = formatCount(struck.length, 'change');
  const isBlocking = verdict === 'refused' && !options.skip_refused;
  return [
    {
      weight: isBlocking ? 'error' : 'warning',
      items: struck.map(({ address, reason }) => ({ address, text: reason })),
      isSaidOnce: true,
      ...(isBlocking
        ? {
            title: `Refused: ${RUNNER[purpose] ?? 'apply does not run this plan'} because of ${count}.`,
            advice: refusedAdvice(struck, plan),
          }
        : omitted(verdict, `${LEAVERS[purpose] ?? 'apply'} leaves out ${count}`, struck, purpose)),
    },
  ];
}

/** Refusals that the base has as well: they fail no check of a pull request. */
function refusedOnBaseFooter({ changes, refusals = [], base }: PlanDocument): readonly RawFooter[] {
  const struck = changes.filter((change) => change.refused_on_base === true);
  const items = [
    ...refusals.flatMap(({ guard, origin, message }) =>
      // A freeze ends by itself, and has words of its own.
      origin === 'base' && guard !== 'freeze' ? [{ address: null, text: message }] : [],
    ),
    ...struck.map(({ address, reason }) => ({ address, text: reason })),
  ];
  if (base === undefined || items.length === 0) return [];
  const where =
    base.behind === 0 ? `on ${baseName(base)} already` : 'without this pull request, too';
  return [
    {
      weight: 'warning',
      title: `Refused ${where}: apply runs nothing until that is settled.`,
      items,
      isSaidOnce: true,
      advice: null,
    },
  ];
}

/** The command that leaves changes out. */
const LEAVERS: { readonly [purpose: string]: string } = {
  rollback: 'the rollback',
  restore: 'the restore',
};

function omitted(
  verdict: Exclude<Verdict, 'ok'>,
  leaves: string,
  struck: readonly Change[],
  purpose: PlanDocument['purpose'],
): Pick<Footer, 'title' | 'advice'> {
  const isRollback = purpose === 'rollback';
  switch (verdict) {
    case 'refused':
      return { title: `Refused: ${leaves}, as --skip-refused asks.`, advice: null };
    case 'held': {
      const flags = holdingFlags(struck).join(' and ');
      // A change that no flag lets go, because a feature has the resource, says itself what it waits for.
      const isAll = struck.every(({ lifted_by: lift }) => lift !== undefined);
      const what = isAll ? 'the held changes' : `the changes that wait for ${flags}`;
      const advice = isRollback
        ? `Roll back with ${flags} to undo what is held.`
        : `${purpose === 'apply' ? keepingAdvice(struck) : ''}Plan with ${flags} to apply ${what}.`;
      return { title: `Held: ${leaves}.`, advice: flags === '' ? null : advice };
    }
    case 'unsupported':
      return isRollback
        ? {
            title: `Not undone: ${leaves} that the platform does not accept now.`,
            advice: 'Fix that, then roll back again: the rollback continues with the rest.',
          }
        : {
            title: `Unsupported: ${leaves} that the platform has no endpoint for.`,
            advice: 'Make the change in the dashboard, or take it out of the configuration.',
          };
  }
}

/** The ways in which held deletes are none: most of them are of resources that somebody moved. */
function keepingAdvice(struck: readonly Change[]): string {
  const dropped = struck.find((one) => one.action === 'delete' && one.lifted_by === 'allow_delete');
  if (dropped === undefined) return '';
  const move = codeSpan(`callsheet state mv ${quoted(dropped.address)} --to FOLDER`);
  return `To keep a resource without managing it, list it under forget; with another name, list both under moved; in another stack: ${move}. `;
}

/** Only what helps: to leave everything out would be to do nothing. */
function refusedAdvice(struck: readonly Change[], plan: PlanDocument): string {
  const { purpose, changes } = plan;
  if (purpose === 'apply')
    return `Fix the refused changes. To leave them out: ${codeSpan(leaveOutCommand(plan))}`;
  const lifts = liftingFlags(struck, purpose).map(({ flag, does }) => ` ${flag} ${does}.`);
  const left = changes.some(isChanging) ? ', or pass --skip-refused to leave them out' : '';
  return `Fix the refused changes${left}.${lifts.join('')}`;
}

/** Shows the findings about a run that died. */
function settledFooter({ settled }: PlanDocument): readonly Footer[] {
  if (settled === undefined) return [];
  const { run, findings } = settled;
  const isOpen = findings.some(({ severity }) => severity === 'warning');
  const items = findings.map(({ address, message }) => ({ address, text: message }));
  const nothing = { address: null, text: 'its journal already records everything that it did' };
  return [
    {
      weight: isOpen ? 'warning' : 'info',
      title: `Settled from run ${run}, which died:`,
      items: items.length === 0 ? [nothing] : items,
      advice: null,
    },
  ];
}

function noteFooter(notes: readonly Note[], severity: Note['severity']): readonly RawFooter[] {
  const own = notes.filter((note) => note.severity === severity);
  if (own.length === 0) return [];
  const title = severity === 'warning' ? 'Warnings:' : 'Notes:';
  const items = own.map(({ address, message }) => ({ address, text: message }));
  return [{ weight: severity, title, items, isSaidOnce: true, advice: null }];
}

/** Addresses that are named where the same is said of several. */
const MOST_NAMED = 3;

/** Says the same text of several resources once, such as a threshold that the whole plan breaks. */
function sayOnce(items: readonly FooterItem[], names: Names): readonly FooterItem[] {
  const same = Map.groupBy(items, ({ address, text }) =>
    address === null ? text : withoutAddress(text, address),
  );
  return [...same].flatMap(([text, [first, ...others]]) => {
    if (first === undefined || others.length === 0) return first ?? [];
    if (first.address === null) return first;
    // One resource may have the same twice: a secret in two of its headers.
    const addresses = [...new Set([first, ...others].flatMap(({ address }) => address ?? []))];
    if (addresses.length === 1) return first;
    const labels = addresses.map((address) => formatLabel(address, getOwn(names, address)));
    return { address: formatFirst(labels, MOST_NAMED), text };
  });
}

/** A text with `ADDRESS` in the place of one, as commands name what is to be filled in. */
function withoutAddress(text: string, address: string): string {
  return text.replaceAll(quoted(address), 'ADDRESS').replaceAll(address, 'ADDRESS');
}

const VERDICTS: {
  readonly [verdict in Rehearsal['verdict']]: Pick<Footer, 'weight'> & { readonly summary: string };
} = {
  passed: { weight: 'info', summary: 'every step passed' },
  partial: { weight: 'warning', summary: 'it can be applied, but not undone completely' },
  failed: { weight: 'error', summary: 'a step failed' },
  refused: { weight: 'error', summary: 'it would be refused' },
  empty: { weight: 'info', summary: 'there is nothing to apply' },
};

const STEPS: { readonly [step in RehearsalStep['step']]: string } = {
  copy: 'copy',
  apply: 'apply',
  again: 'plan again',
  failure: 'fail half way',
  resume: 'resume',
  rollback: 'roll back',
  return: 'compare',
};

const MARKS: { readonly [outcome in RehearsalStep['outcome']]: string } = {
  held: '✓',
  partial: '!',
  failed: '✗',
  refused: '✗',
};

/** Shows the result of a rehearsal, and what it rests on. */
export function rehearsalFooters({ rehearsal, digest }: PlanDocument): readonly Footer[] {
  if (rehearsal === undefined) return [];
  if (rehearsal.digest !== digest) {
    const text = `it was rehearsed as ${rehearsal.digest}, which is a different plan`;
    const title = 'Rehearsal: it was not made for this plan.';
    return [{ weight: 'warning', title, items: [{ address: null, text }], advice: null }];
  }
  const { weight, summary } = VERDICTS[rehearsal.verdict];
  return [
    {
      weight,
      title: `Rehearsal of ${instant(rehearsal.at)}${getSource(rehearsal)}: ${summary}.`,
      items: rehearsal.steps.flatMap(stepItems),
      advice: null,
    },
    ...differenceFooter(rehearsal),
    {
      weight: 'info',
      title: 'The rehearsal relies on:',
      items: [
        ...(rehearsal.faults.length === 0
          ? []
          : [{ address: null, text: `simulated faults: ${rehearsal.faults.join('; ')}` }]),
        ...rehearsal.filled.map((text) => ({ address: null, text })),
        ...(rehearsal.assumptions.length === 0
          ? []
          : [{ address: null, text: `assumptions: ${rehearsal.assumptions.join(', ')}` }]),
      ],
      advice: LIMITS,
    },
  ];
}

/** A rehearsal must not be taken for more than it is. */
const LIMITS =
  'It tests the plan against the simulator, which is one reading of the platform’s specification, not against the platform itself (`callsheet explain assumptions`).';

function getSource({ source }: Rehearsal): string {
  return source.type === 'snapshot' ? ` with the snapshot of ${instant(source.made_at)}` : '';
}

/** To the minute. No digest vouches for what stands in a file, and titles are shown as they are. */
function instant(text: string): string {
  const [, minute] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)[\d:.]*Z$/.exec(text) ?? [];
  return minute === undefined ? 'an unknown time' : `${minute}Z`;
}

function stepItems({ step, outcome, message, details }: RehearsalStep): Footer['items'] {
  return [
    { address: `${MARKS[outcome]} ${STEPS[step]}`, text: message },
    ...details.map((text) => ({ address: null, text: `  ${text}` })),
  ];
}

function differenceFooter({ differences, differing }: Rehearsal): readonly Footer[] {
  if (differing === 0) return [];
  const title = 'Different after the rollback:';
  const hidden = differing - differences.length;
  const items = differences.map((one) => ({
    address: formatName(one),
    text: formatDifference(one),
  }));
  const more = { address: null, text: `and ${formatNumber(hidden)} more` };
  return [{ weight: 'warning', title, items: hidden > 0 ? [...items, more] : items, advice: null }];
}

function formatName({ address, kind, name, id }: RehearsalDifference): string {
  return address ?? `${nameInWords(kind)} ${name} (${id})`;
}

function formatDifference({ path, before, after, secret }: RehearsalDifference): string {
  if (path === null) return before === null ? 'still exists' : 'no longer exists';
  if (secret) return `${path}: a different secret`;
  if (before === null || after === null)
    return `${path}: ${shortly(before)} before, ${shortly(after)} after`;
  const sides = shortSides(before, after, LONGEST);
  const unseen = sides.unseen.map((text) => `; ${text}`).join('');
  return `${path}: ${sides.before} before, ${sides.after} after${unseen}`;
}

/** Enough of a value to recognise it. */
const LONGEST = 60;

function shortly(value: Json): string {
  return value === null ? 'nothing' : clip(inlineValue(value), LONGEST);
}
