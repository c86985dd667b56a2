"""What an application's operations are made of: answers, HTTP, effects that come later."""
