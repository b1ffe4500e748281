import { render } from 'preact';
import type { UiStart } from '../live.ts';
import { readData, rootElement } from './page.ts';
import { Shell } from './ui/shell.tsx';

render(<Shell start={readData<UiStart>()} />, rootElement());
