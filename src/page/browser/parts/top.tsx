import { useEffect } from 'preact/hooks';
import { type PlanDocument, shortCommit } from '../../../core/plan-document.ts';
import type { Footer } from '../../../render/footers.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { formatNumber, stackName } from '../../../render/wording.ts';
import { useKept } from '../page.ts';
import { instant } from './notes.tsx';

export type View = 'changes' | 'graph' | 'timeline' | 'notes';

export type ViewTab = { readonly view: View; readonly title: string; readonly count?: number };

type TopProps = {
  readonly title: string;
  readonly head: PlanDocument;
  readonly notes: readonly Footer[];
  readonly tabs: readonly ViewTab[];
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly onHelp: () => void;
};

/** What the plan comes to, where it is for, and what stands against it. */
export function Top({ title, head, notes, tabs, view, onView, onHelp }: TopProps) {
  return (
    <header class="top">
      <div class="title">
        <h1>{sanitiseLine(title)}</h1>
        <div class="tools">
          <ThemeSwitch />
          <button type="button" onClick={onHelp} aria-keyshortcuts="?">
            Keys
          </button>
        </div>
      </div>
      <dl class="about">
        {listFacts(head).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {notes
        .filter(({ weight }) => weight === 'error')
        .map((note) => (
          <p class="banner error" key={note.title}>
            <strong>{sanitiseLine(note.title)}</strong>{' '}
            <button type="button" class="quiet" onClick={() => onView('notes')}>
              Why, and what to do
            </button>
          </p>
        ))}
      <nav class="views" aria-label="Views">
        {tabs.map((tab) => (
          <button
            type="button"
            key={tab.view}
            aria-current={tab.view === view ? 'true' : undefined}
            onClick={() => onView(tab.view)}
          >
            {tab.title}
            {tab.count === undefined ? null : <span class="count">{formatNumber(tab.count)}</span>}
          </button>
        ))}
      </nav>
    </header>
  );
}

function listFacts(head: PlanDocument): readonly (readonly [string, string])[] {
  const { platform, stack, environment, created_at: at, digest } = head;
  const { commit } = stack ?? {};
  const changed = commit?.is_changed === true ? ', with uncommitted changes' : '';
  return [
    ...(stack === undefined ? [] : [['Stack', sanitiseLine(stackName(stack))] as const]),
    ...(environment === undefined ? [] : [['Environment', sanitiseLine(environment)] as const]),
    ...(commit === undefined
      ? []
      : [
          [
            'Commit',
            sanitiseLine(
              `${shortCommit(commit.id)} ${commit.subject}, by ${commit.author}${changed}`,
            ),
          ] as const,
        ]),
    ['Platform', sanitiseLine(platform.base_url)],
    ['Account', sanitiseLine(platform.account_id)],
    ['Made', instant(at)],
    ['Digest', sanitiseLine(digest.slice(0, 'sha256:'.length + 12))],
  ];
}

const THEMES = ['auto', 'light', 'dark'] as const;

/** Light or dark; `auto` is what the system of the reader says. */
export function ThemeSwitch() {
  const [theme, setTheme] = useKept('theme', THEMES, 'auto');
  useEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <select
      aria-label="Theme"
      value={theme}
      onChange={({ currentTarget }) =>
        setTheme(THEMES.find((one) => one === currentTarget.value) ?? 'auto')
      }
    >
      <option value="auto">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
