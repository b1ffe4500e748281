import { render } from 'preact';
import type { UiStart } from '../ui-start.ts';
import { readData, rootElement } from './data.ts';
import { Shell } from './ui/shell.tsx';

render(<Shell start={readData<UiStart>()} />, rootElement());
