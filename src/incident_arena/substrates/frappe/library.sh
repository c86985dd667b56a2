# What the scripts of this application's tasks share. It goes into a pod beside the script that is played, and never else.

settle() { # wait until 40 s in a row are good: no request failed, no jobs have piled up
    local since=$SECONDS
    while ((SECONDS - since < 40)); do
        { admin queue list | jq -e '[.queues[] | .queued + .taken + .started] | add <= 5' &&
            admin traffic --seconds 3 | jq -e '.requests > 0 and .failed == 0'; } >/dev/null || since=$SECONDS
        sleep 1
    done
}
