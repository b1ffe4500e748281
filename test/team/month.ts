import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { onTestFinished } from 'vitest';
import { init } from '../../src/features/writing/init/init.ts';
import { readSeed, startSimulator } from '../../src/simulator/index.ts';
import { commandsIn, LOCK } from '../ci/place.ts';
import { openAuthorStage } from '../cli/author-stage.ts';
import { removeFolder, temporaryFolder } from '../temporary.ts';
import { type Agenda, DAY, HOUR, MINUTE, openAgenda } from './agenda.ts';
import { type Change, changeFiles, FIRST, LOCKED, ORGANIZATION, type Texts } from './fleet.ts';
import { BOT, type Clone, type Hub, openHub, type Pull, type Run } from './hub.ts';
import { type Finding, type Oracle, openOracle, timeOf } from './oracle.ts';
import { openProgram, type Program, type Ran } from './program.ts';

/** Who works on the fleet. The last one edits in the dashboard, too. */
const PEOPLE = ['ana', 'ben', 'cleo', 'maria'] as const;
type Who = (typeof PEOPLE)[number];

/** How somebody goes about a pull request. */
type Habits = {
  readonly who: Who;
  /** Minutes until it is merged. */
  readonly after: number;
  readonly how: 'merge' | 'squash';
  /** Begins from main as it was last fetched. */
  readonly isStale: boolean;
  /** Gives a delete its label. */
  readonly labels: boolean;
  /** Merges although the check is red. */
  readonly insists: boolean;
  /** Reads what became of it, and goes on as that says. */
  readonly follows: boolean;
};

/** What happens, beside what schedules do. */
export type Story =
  | { readonly do: 'change'; readonly change: Change; readonly habits: Habits }
  | { readonly do: 'rush'; readonly changes: readonly Change[]; readonly habits: Habits }
  | { readonly do: 'revert'; readonly back: number; readonly habits: Habits }
  | { readonly do: 'cherry'; readonly change: Change; readonly habits: Habits }
  | { readonly do: 'force'; readonly change: Change; readonly habits: Habits }
  | { readonly do: 'laptop'; readonly who: Who; readonly behind: number }
  | {
      readonly do: 'hand';
      readonly pick: number;
      readonly path: 'greeting_message' | 'system_prompt';
    }
  | {
      readonly do: 'hand under';
      readonly pick: number;
      readonly change: Change;
      readonly habits: Habits;
    }
  | { readonly do: 'hand, then remove'; readonly pick: number; readonly habits: Habits }
  | { readonly do: 'cancel'; readonly how: 'told' | 'killed' | 'lost'; readonly at: number }
  | { readonly do: 'lose cache' }
  | {
      readonly do: 'rollback';
      readonly who: Who;
      readonly at: 'desk' | 'pipeline';
      readonly habits: Habits;
    }
  | { readonly do: 'rotate'; readonly follows: boolean }
  | { readonly do: 'pull'; readonly habits: Habits }
  | { readonly do: 'tend'; readonly who: Who }
  | { readonly do: 'unlock'; readonly minutes: number };

/** A story, and the minute of its day at which it begins. */
type Entry = { readonly minute: number; readonly story: Story };

export type Month = {
  /** Where the state is between jobs. */
  readonly state: 'cache' | 'store';
  readonly days: readonly (readonly (Entry | null)[])[];
};

const pick = fc.nat(999);
const habits: fc.Arbitrary<Habits> = fc.record({
  who: fc.constantFrom(...PEOPLE),
  after: fc.constantFrom(3, 20, 90, 300),
  how: fc.constantFrom('merge', 'squash'),
  isStale: fc.boolean(),
  labels: fc.boolean(),
  insists: fc.boolean(),
  follows: fc.constantFrom(true, true, false),
});
const what = fc.constantFrom(
  'greeting',
  'greeting',
  'greeting',
  'greeting',
  'prompt',
  'prompt',
  'add',
  'remove',
  'move',
  'rename',
  'refused',
  'broken',
);
const change: fc.Arbitrary<Change> = fc.record({ what, pick }) as fc.Arbitrary<Change>;
const plain: fc.Arbitrary<Change> = fc.record({
  what: fc.constantFrom('greeting', 'prompt', 'add'),
  pick,
}) as fc.Arbitrary<Change>;

const story: fc.Arbitrary<Story> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ do: fc.constant('change'), change, habits }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rush'),
      changes: fc.array(plain, { minLength: 3, maxLength: 3 }),
      habits,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('revert'), back: fc.nat(4), habits }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cherry'), change: plain, habits }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('force'), change, habits }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('laptop'),
      who: fc.constantFrom(...PEOPLE),
      behind: fc.nat(4),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('hand'),
      pick,
      path: fc.constantFrom('greeting_message', 'system_prompt'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('hand under'), pick, change: plain, habits }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('hand, then remove'), pick, habits }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('cancel'),
      how: fc.constantFrom('told', 'killed', 'lost'),
      at: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose cache') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rollback'),
      who: fc.constantFrom(...PEOPLE),
      at: fc.constantFrom('desk', 'pipeline'),
      habits,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rotate'), follows: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pull'), habits }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('tend'), who: fc.constantFrom(...PEOPLE) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('unlock'), minutes: fc.constantFrom(60, 1500) }),
  },
) as fc.Arbitrary<Story>;

/** Most happens between six and seven in the evening; now and then somebody is up at night. */
const minute = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 360, max: 1140 }) },
  { weight: 1, arbitrary: fc.nat(1439) },
);

/** Months of so many days. What fails is made smaller by leaving stories out. */
export function months(days: number, perDay: number): fc.Arbitrary<Month> {
  const entry = fc.option(fc.record({ minute, story }), { freq: 1_000 });
  return fc.record({
    state: fc.constantFrom('cache', 'store'),
    days: fc.array(fc.array(entry, { minLength: perDay, maxLength: perDay, size: 'max' }), {
      minLength: days,
      maxLength: days,
      size: 'max',
    }),
  });
}

/** What became of what happened, by kind of event. */
export type Outcomes = ReadonlyMap<string, ReadonlyMap<string, number>>;

export type Played = {
  readonly findings: readonly Finding[];
  readonly outcomes: Outcomes;
  /** What happened, in order. */
  readonly log: readonly string[];
  readonly nights: number;
};

/** Commands that write. */
const RUNS = new Set(['apply', 'rollback']);

/** A Wednesday. */
const START = new Date('2026-03-04T00:00:00Z');

/** Right after the nightly job. */
const NIGHT = 4.5 * HOUR;

type World = {
  readonly agenda: Agenda;
  readonly hub: Hub;
  readonly oracle: Oracle;
  readonly program: Program;
  readonly deskOf: (who: string) => Clone;
  /** A word that is nowhere yet. */
  readonly mark: () => string;
  readonly env: () => Readonly<Record<string, string>>;
  readonly tell: (text: string) => void;
  readonly count: (event: string, outcome: string) => void;
  /** The pull request that the last run applied; undefined where it was started by hand or at a desk. */
  readonly lastRun: () => Pull | undefined;
  readonly edit: (pick: number, path: string) => void;
};

/** Plays a month to its end, and says what the oracle found. */
export async function play({ state, days }: Month): Promise<Played> {
  const folder = temporaryFolder();
  const log: string[] = [];
  const counts = new Map<string, Map<string, number>>();
  const count: World['count'] = (event, outcome) => {
    const row = counts.get(event) ?? new Map<string, number>();
    counts.set(event, row.set(outcome, (row.get(outcome) ?? 0) + 1));
  };
  const agenda = openAgenda(START);
  const tell = (text: string) => void log.push(`${timeOf(agenda.at())} ${text}`);
  const sim = await startSimulator({
    seed: readSeed(`organizations: [{ id: ${ORGANIZATION}, name: Harbor Dental }]`),
    now: agenda.now,
  });
  onTestFinished(() => sim.close());
  const feature = `llm.${LOCKED}`;
  sim.lock('organization', ORGANIZATION, feature);

  let secret = 'sms-0';
  let lastRun: Pull | undefined;
  let oracle: Oracle | undefined;
  let doom: { readonly how: 'told' | 'killed' | 'lost'; readonly at: number } | undefined;
  const crashes: unknown[] = [];
  const program = await openProgram(folder, agenda, {
    doom: ([command]) => {
      const run = hub.current();
      if (doom === undefined || run === undefined || !RUNS.has(command ?? '')) return undefined;
      const { how, at } = doom;
      doom = undefined;
      tell(
        `run ${run.id} (${run.workflow}) is ${how === 'lost' ? 'without its machine' : `cancelled and ${how}`}`,
      );
      if (how === 'lost') hub.loseMachine();
      else run.isCancelled = true;
      return { how: how === 'told' ? 'told' : 'killed', at };
    },
    onEnd(ran) {
      if (ran.args[0] === 'apply' && ran.exit === 0) lastRun = hub.current()?.pull;
      oracle?.onRan(ran);
    },
    onCrash: (error) => void crashes.push(error),
  });
  const place = join(folder, 'states', 'state.json');
  const env = () => ({
    CALLSHEET_BASE_URL: sim.url,
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    CALLSHEET_FINGERPRINT_KEY: 'a key of thirty-two characters!!',
    SMS_TOKEN: secret,
    ...(state === 'store' ? { CALLSHEET_STATE: place } : {}),
  });
  mkdirSync(dirname(place));
  let draws = 0;
  const hub = await openHub(await filesOf(folder, state), {
    agenda,
    folder,
    machine: {
      PATH: `${commandsIn(folder, program.command)}:${dirname(process.execPath)}:${process.env.PATH}`,
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      ...(state === 'store' ? { CALLSHEET_STATE: place } : {}),
    },
    vars: { CALLSHEET_BASE_URL: sim.url },
    secrets: env,
    // Most of the time somebody is there; in the evening it waits until the morning.
    async approve() {
      if (agenda.at() < HOUR) return true;
      draws += 1;
      await agenda.sleep(([2, 8, 45][draws % 3] ?? 0) * MINUTE);
      const hour = (agenda.at() / HOUR) % 24;
      if (hour > 19 || hour < 7) await agenda.sleep(((32 - hour) % 24) * HOUR);
      return draws % 40 !== 0;
    },
    onPage: (page) => oracle?.onPage(page),
    onEnd(run) {
      const of = run.pull === undefined ? '' : ` of #${run.pull.number}`;
      tell(`run ${run.id} ${run.workflow}${of}: ${run.conclusion}${reasonOf(run)}`);
      oracle?.onEnd(run);
    },
  });
  oracle = openOracle({ hub, sim, agenda }, secret);
  const known = oracle;
  const desks = new Map<string, Clone>(PEOPLE.map((who) => [who, hub.clone(who)]));
  let hands = 0;
  let marks = 0;
  const world: World = {
    agenda,
    hub,
    oracle,
    program,
    deskOf(who) {
      const clone = desks.get(who);
      if (clone === undefined) throw new Error(`nobody is called ${who}`);
      return clone;
    },
    mark() {
      marks += 1;
      return `m${marks}`;
    },
    lastRun: () => lastRun,
    env,
    tell,
    count,
    edit(chosen, path) {
      const ids = [...sim.store.agents.keys()];
      const id = ids[chosen % ids.length];
      if (id === undefined) return;
      hands += 1;
      const mark = `h${hands}`;
      const before = sim.store.agents.get(id)?.record[path];
      const value =
        path === 'system_prompt' ? `${before ?? ''}\nAnd ${mark}.\n` : `By hand ${mark}.`;
      sim.edit(id, { [path]: value }, 'user:maria');
      known.edit(id, path, mark, 'user:maria');
      tell(`maria edits ${known.addressOf(id)} ${path} (${mark})`);
    },
  };

  const tellStory = (one: Story): Promise<void> => {
    switch (one.do) {
      case 'cancel':
        doom = one;
        return Promise.resolve();
      case 'lose cache':
        tell(`${hub.keep.caches.length} caches are lost`);
        hub.keep.caches.splice(0);
        return Promise.resolve();
      case 'unlock':
        sim.unlock('organization', ORGANIZATION, feature);
        return agenda
          .sleep(one.minutes * MINUTE)
          .then(() => sim.lock('organization', ORGANIZATION, feature));
      case 'rotate':
        return rotate(world, one.follows, (value) => {
          secret = value;
        });
      default:
        return live(world, one);
    }
  };

  // The first apply makes everything.
  hub.dispatch('callsheet-apply.yaml', 'ana');
  await agenda.runUntil(3 * HOUR - MINUTE);
  known.look();
  if (known.differences().length > 0) throw new Error(`the first apply failed: ${log.join('\n')}`);
  // To start every hour what finds no mark would take most of the time of this test.
  hub.keepSchedules((workflow) => workflow === 'callsheet-resume.yaml' && !isAnythingFrozen(hub));
  for (const [day, entries] of days.entries())
    for (const entry of entries) {
      if (entry === null) continue;
      const at = day * DAY + entry.minute * MINUTE;
      agenda.begin(() => tellStory(entry.story), Math.max(0, at - agenda.at()));
    }
  for (let night = 1; night <= days.length; night += 1) {
    await agenda.runUntil(night * DAY + NIGHT);
    const before = known.findings.length;
    known.night();
    for (const { what } of known.findings.slice(before)) tell(`! nobody was told: ${what}`);
  }
  await agenda.runUntil(agenda.at() + 2 * MINUTE);
  if (crashes.length > 0) throw crashes[0];
  for (const { fate, path } of known.edits) count(`edit of ${path}`, fate);
  removeFolder(folder);
  return { findings: known.findings, outcomes: counts, log, nights: days.length };
}

/** The stack, and what `init` writes beside it, set up as the pages say. */
async function filesOf(folder: string, state: Month['state']): Promise<Texts> {
  const seed = join(folder, 'seed');
  mkdirSync(join(seed, '.git'), { recursive: true });
  for (const [path, text] of Object.entries(FIRST)) {
    mkdirSync(dirname(join(seed, path)), { recursive: true });
    writeFileSync(join(seed, path), text);
  }
  await init({ dir: seed, keepExisting: true, ci: 'github' }, openAuthorStage().context);
  rmSync(join(seed, '.git'), { recursive: true });
  const files = readdirSync(seed, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const texts = files.map((file): [string, string] => {
    const path = join(file.parentPath, file.name);
    return [relative(seed, path), readFileSync(path, 'utf8')];
  });
  const adapt = (path: string, text: string) => {
    if (!path.endsWith('.yaml') || !path.startsWith('.github/workflows/')) return text;
    const secrets = text.replace(
      /^( +)# Add what the stack reads with \{ \$secret.*$/gm,
      '$1SMS_TOKEN: ${{ secrets.SMS_TOKEN }}',
    );
    if (state === 'cache') return secrets;
    return secrets.replace(
      /^( +)working-directory: (?!fork).*$(?![\s\S]{0,120}state: none)/gm,
      '$&\n$1state: none',
    );
  };
  return {
    ...Object.fromEntries(texts.map(([path, text]) => [path, adapt(path, text)])),
    '.github/actions/callsheet/package-lock.json': LOCK,
  };
}

function isAnythingFrozen({ github }: Hub): boolean {
  return [...github.artifacts.values()]
    .flat()
    .some(({ name }) => name.startsWith('callsheet-frozen'));
}

/** What the first job that failed says of it. */
function reasonOf({ results }: Run): string {
  const failed = Object.values(results).find(({ result }) => result === 'failure');
  const said = failed?.log.split('\n').findLast((line) => line.startsWith('::error'));
  return failed === undefined ? '' : ` (${said?.slice(2) ?? 'rejected, or its machine was lost'})`;
}

/** What somebody does in a clone before the branch is pushed; false where there is nothing to do. */
type Work = (clone: Clone, mark: string) => boolean | Promise<boolean>;

function commitChange(change: Change): Work {
  return (clone, mark) => {
    const texts = changeFiles(clone.read, change, mark);
    if (texts !== undefined) clone.commit(texts, `${change.what} ${mark}`);
    return texts !== undefined;
  };
}

/** A conflict is given up. */
function carriedOver(clone: Clone, ...[what, ...args]: readonly string[]): boolean {
  const isDone = clone.tryGit(what ?? '', ...args);
  if (!isDone) clone.tryGit(what ?? '', '--abort');
  return isDone;
}

type Lived = Exclude<Story, { readonly do: 'cancel' | 'lose cache' | 'unlock' | 'rotate' }>;

async function live(world: World, one: Lived): Promise<void> {
  const { agenda, hub, tell, deskOf } = world;
  switch (one.do) {
    case 'change':
      return review(world, one.change.what, one.habits, commitChange(one.change));
    case 'rush':
      for (const change of one.changes)
        agenda.begin(() =>
          review(world, 'three at once', { ...one.habits, after: 10 }, commitChange(change)),
        );
      return;
    case 'revert': {
      const pull = hub.pulls.filter(({ state }) => state === 'merged').at(-1 - one.back);
      if (pull === undefined) return;
      return review(world, 'revert', { ...one.habits, isStale: false }, (clone) =>
        revert(clone, pull),
      );
    }
    case 'cherry': {
      const pull = hub.pulls.at(-1);
      if (pull === undefined) return;
      return review(world, 'cherry-pick', one.habits, (clone, mark) => {
        clone.git('fetch', '--quiet', 'origin');
        return (
          carriedOver(clone, 'cherry-pick', `origin/${pull.branch}`) &&
          commitChange(one.change)(clone, mark)
        );
      });
    }
    case 'force': {
      const pull = hub.pulls.findLast(({ state, by }) => state === 'open' && by !== BOT);
      if (pull === undefined) return;
      const clone = deskOf(pull.by);
      clone.git('fetch', '--quiet', 'origin');
      clone.git('checkout', '--quiet', '--force', '-B', pull.branch, 'origin/main');
      if (!(await commitChange(one.change)(clone, world.mark()))) return;
      clone.git('push', '--quiet', '--force', 'origin', pull.branch);
      tell(`${pull.by} force-pushes #${pull.number} (${one.change.what})`);
      return hub.push(pull);
    }
    case 'hand':
      return world.edit(one.pick, one.path);
    case 'hand under':
      agenda.begin(async () => world.edit(one.pick, 'greeting_message'), 10 * MINUTE);
      return review(
        world,
        'edited by hand meanwhile',
        { ...one.habits, after: 30 },
        commitChange(one.change),
      );
    case 'hand, then remove': {
      const count = world.oracle.edits.length;
      world.edit(one.pick, 'greeting_message');
      const slug = /"(.*)"/.exec(world.oracle.edits[count]?.address ?? '')?.[1];
      if (slug === undefined) return;
      await agenda.sleep(HOUR);
      return review(world, 'remove after an edit', { ...one.habits, isStale: false }, (clone) => {
        const rows = clone.read('clinics.csv').split('\n');
        const left = rows.filter((row) => !row.startsWith(`${slug},`));
        if (left.length === rows.length) return false;
        clone.commit({ 'clinics.csv': left.join('\n') }, `remove ${slug}`);
        return true;
      });
    }
    case 'laptop':
      return applyAtDesk(world, one.who, one.behind);
    case 'rollback':
      return rollBack(world, one.at, one.habits);
    case 'pull':
      return review(world, 'pull', { ...one.habits, isStale: false }, async (clone) => {
        const { exit } = await atDesk(world, clone, 'pull', '--skip-refused');
        if (exit !== 0 || clone.tryGit('diff', '--quiet')) return false;
        clone.commit({}, 'Take over what was edited');
        return true;
      });
    case 'tend':
      return tend(world, one.who);
  }
}

/** Somebody reads the open issues in the morning. What a rollback holds is released at a desk, everything else is applied. */
async function tend(world: World, who: Who): Promise<void> {
  const { hub, tell, deskOf } = world;
  const open = hub.github.issues.filter(({ state }) => state === 'open');
  if (open.length === 0) return;
  const clone = deskOf(who);
  clone.git('fetch', '--quiet', 'origin');
  clone.git('checkout', '--quiet', '--force', '--detach', 'origin/main');
  const { exit, out, err } = await atDesk(world, clone, 'plan');
  if (exit === 4 && /rolled back by/.test(out + err))
    await atDesk(world, clone, 'apply', '--release-hold', '--auto-approve');
  else {
    tell(`${who} reads the issue and starts an apply`);
    startApply(world, who, open.map(({ body }) => body).join('\n'), who !== 'ben');
  }
}

function revert(clone: Clone, { commit }: Pull): boolean {
  const isMerge = clone.git('rev-list', '--parents', '-1', commit).split(' ').length > 2;
  return carriedOver(clone, 'revert', '--no-edit', ...(isMerge ? ['-m', '1'] : []), commit);
}

/** Minutes that somebody waits for a plan, and looks again after. */
const LOOK = 6 * MINUTE;
/** How often somebody tries again before giving a pull request up. */
const TRIES = 12;

/** A pull request from its first commit on. */
async function review(world: World, event: string, habits: Habits, work: Work): Promise<void> {
  const { hub, tell, deskOf } = world;
  const { who } = habits;
  const clone = deskOf(who);
  const mark = world.mark();
  const branch = `${who}-${mark}`;
  if (!habits.isStale) clone.git('fetch', '--quiet', '--prune', 'origin');
  clone.git('checkout', '--quiet', '--force', '-B', branch, 'origin/main');
  if (!(await work(clone, mark))) return;
  clone.git('push', '--quiet', '--force', 'origin', branch);
  const pull = hub.open(clone, branch, `${event} ${mark}`);
  tell(`${who} opens #${pull.number}: ${clone.git('log', '-1', '--format=%s')} (${event})`);
  await bringIn(world, event, pull, habits);
}

/** A pull request from where it is open to what becomes of it. */
async function bringIn(world: World, event: string, pull: Pull, habits: Habits): Promise<void> {
  const { agenda, oracle, hub, tell, count } = world;
  const { who } = habits;
  await agenda.sleep(habits.after * MINUTE);
  const outcome = await untilMerged(world, pull, habits);
  if (outcome !== undefined) {
    hub.close(pull);
    tell(`${who} closes #${pull.number}: ${outcome}`);
    return count(event, outcome);
  }
  oracle.onMerge(pull);
  tell(`${who} merges #${pull.number}: ${oracle.changed(pull).join(', ')}`);
  const night = Math.ceil((agenda.at() - NIGHT) / DAY) * DAY + NIGHT;
  agenda.begin(async () => count(event, oracle.outcomeOf(pull)), night + MINUTE - agenda.at());
  // Whoever merged what is refused takes it back the next day.
  if (event === 'refused')
    agenda.begin(
      () =>
        review(
          world,
          'revert of what is refused',
          { ...habits, after: 20, isStale: false },
          (desk) => revert(desk, pull),
        ),
      DAY,
    );
  if (habits.follows) await follow(world, pull, habits);
}

/** Undefined once it is merged, and otherwise why it is given up. */
async function untilMerged(
  { agenda, hub, deskOf }: World,
  pull: Pull,
  { who, labels, insists, how }: Habits,
): Promise<string | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (!hub.isMergeable(pull)) {
      const clone = deskOf(who);
      clone.git('fetch', '--quiet', 'origin');
      clone.git('checkout', '--quiet', '--force', '-B', pull.branch, `origin/${pull.branch}`);
      if (!carriedOver(clone, 'rebase', 'origin/main')) return 'conflict in Git, closed';
      clone.git('push', '--quiet', '--force', 'origin', pull.branch);
      hub.push(pull);
    } else {
      const run = hub.planOf(pull);
      const [plan = ''] = (hub.github.comments.get(pull.number) ?? []).flatMap(({ body }) =>
        body.startsWith('<!-- callsheet:plan') ? [body] : [],
      );
      const isPlanned = run?.state === 'done';
      if (isPlanned && labels && !pull.labels.has(DELETE) && /\bheld\b/.test(plan))
        hub.label(pull, DELETE);
      else if (
        isPlanned &&
        run.conclusion === 'failure' &&
        run.results.validate?.result === 'failure'
      )
        return 'red, closed';
      else if (isPlanned && run.conclusion === 'failure' && !insists) {
        await agenda.sleep(2 * HOUR);
        if (tries > 2) return 'red, given up';
        hub.push(pull);
      } else if (isPlanned && hub.merge(pull, how)) return undefined;
    }
    await agenda.sleep(LOOK);
  }
  return 'given up';
}

const DELETE = 'callsheet-allow-delete';

/** Reads what became of a merge, and does what it says. */
async function follow(world: World, pull: Pull, { labels }: Habits): Promise<void> {
  const { agenda, hub, tell } = world;
  for (let looks = 0; looks < 200; looks += 1) {
    await agenda.sleep(LOOK);
    const run = hub.runs.findLast(
      (one) => one.pull === pull && one.workflow === 'callsheet-apply.yaml',
    );
    if (run?.state !== 'done') continue;
    const said = (hub.github.comments.get(pull.number) ?? []).find(({ body }) =>
      body.startsWith('<!-- callsheet:apply'),
    );
    if (said === undefined || !/by hand/.test(said.body)) return;
    tell(`${pull.by} starts an apply, as #${pull.number} says: ${/^### .*/m.exec(said.body)?.[0]}`);
    startApply(world, pull.by, said.body, labels);
    return;
  }
}

/** Starts an apply by hand; whoever cares for deletes ticks the box that a page speaks of. */
function startApply({ hub }: World, who: string, page: string, deletes: boolean): void {
  const inputs = deletes && page.includes('allow-delete') ? { 'allow-delete': true } : {};
  hub.dispatch('callsheet-apply.yaml', who, inputs);
}

/** Runs the program where somebody works. */
async function atDesk(
  { program, env, tell }: World,
  clone: Clone,
  ...args: readonly string[]
): Promise<Ran> {
  const ran = await program.run(args, clone.folder, {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ...env(),
  });
  tell(`${clone.who}$ callsheet ${args.join(' ')} (exit ${ran.exit})`);
  return ran;
}

async function applyAtDesk(world: World, who: Who, behind: number): Promise<void> {
  const clone = world.deskOf(who);
  if (behind === 0) clone.git('fetch', '--quiet', 'origin');
  const start = clone.tryGit('rev-parse', '--verify', '--quiet', `origin/main~${behind}`)
    ? `origin/main~${behind}`
    : 'origin/main';
  clone.git('checkout', '--quiet', '--force', '--detach', start);
  const left = world.hub.git('rev-list', '--count', `${clone.git('rev-parse', 'HEAD')}..main`);
  await atDesk(world, clone, 'plan');
  const before = world.oracle.differences().length;
  const { exit } = await atDesk(world, clone, 'apply', '--auto-approve');
  const more = world.oracle.differences().length - before;
  world.count(
    left === '0' ? 'apply at a desk' : 'apply at a desk that is behind',
    `exit ${exit}${more > 0 ? ', took back' : ''}`,
  );
}

async function rollBack(world: World, at: 'desk' | 'pipeline', habits: Habits): Promise<void> {
  const { agenda, hub, count, tell, deskOf } = world;
  const event = `rollback, ${at}`;
  if (at === 'pipeline') {
    if (!hub.has('callsheet-rollback.yaml')) return count(event, 'there is no workflow');
    const { length } = hub.pulls;
    const inputs = { run: 'last', reason: 'Callers complain', edits: 'stop and say so' };
    const run = hub.dispatch('callsheet-rollback.yaml', habits.who, inputs);
    while (run.state !== 'done') await agenda.sleep(LOOK);
    const pull = hub.pulls.slice(length).find(({ by }) => by === BOT);
    count(event, `${run.conclusion}${pull === undefined ? '' : ', with its revert'}`);
    if (pull === undefined) return;
    tell(`${habits.who} reopens #${pull.number}, the revert`);
    hub.reopen(pull);
    return bringIn(world, 'revert after a rollback', pull, habits);
  }
  const clone = deskOf(habits.who);
  clone.git('fetch', '--quiet', 'origin');
  clone.git('checkout', '--quiet', '--force', '--detach', 'origin/main');
  const pull = world.lastRun();
  await atDesk(world, clone, 'rollback', '--dry-run');
  const { exit } = await atDesk(world, clone, 'rollback', '--auto-approve');
  count(event, `exit ${exit}`);
  if (exit !== 0 || pull === undefined) return;
  await review(world, 'revert after a rollback', { ...habits, isStale: false }, (desk) =>
    revert(desk, pull),
  );
}

/** The secret is another one in the settings of the repository; who follows the pages starts an apply. */
async function rotate(
  { agenda, hub, oracle, tell, count }: World,
  follows: boolean,
  give: (value: string) => void,
): Promise<void> {
  const value = `sms-${agenda.at()}`;
  give(value);
  tell('the secret is rotated');
  if (!follows) return;
  let run = hub.dispatch('callsheet-apply.yaml', 'ana');
  while (run.state !== 'done') await agenda.sleep(LOOK);
  if (run.results.apply?.summary.includes('resend-secrets')) {
    tell('ana starts an apply again, with the secrets');
    run = hub.dispatch('callsheet-apply.yaml', 'ana', { 'resend-secrets': true });
    while (run.state !== 'done') await agenda.sleep(LOOK);
  }
  if (run.conclusion === 'success') oracle.wantSecret(value);
  count(
    'rotated secret',
    `${run.conclusion}, ${oracle.differences().some(({ path }) => path === 'secret') ? 'old' : 'new'} on the platform`,
  );
}
