// The page for operators. In: the answers of the server that it was served by. It keeps nothing but the chosen theme.
import { render } from 'preact';
import { App } from './app.js';
import './styles.css';

render(<App />, document.getElementById('page') as HTMLElement);
